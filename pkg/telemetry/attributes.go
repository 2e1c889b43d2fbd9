package telemetry

import "go.opentelemetry.io/otel/attribute"

// Attribute names of the OpenTelemetry semantic conventions that spans and metrics of this system use.
const (
	// MessagingSystemKey is always [MessagingSystem]: the conventions list no value for NATS.
	MessagingSystemKey = attribute.Key("messaging.system")
	// MessagingOperationNameKey is the client's word for the operation: publish, fetch, ack.
	MessagingOperationNameKey = attribute.Key("messaging.operation.name")
	// MessagingOperationTypeKey is one of create, send, receive, process and settle.
	MessagingOperationTypeKey = attribute.Key("messaging.operation.type")
	// MessagingDestinationNameKey is the subject of the message.
	MessagingDestinationNameKey = attribute.Key("messaging.destination.name")
	// MessagingDestinationTemplateKey is the subject with its ids replaced by names in braces.
	MessagingDestinationTemplateKey = attribute.Key("messaging.destination.template")
	// MessagingMessageIDKey is the message's id, by which the stream drops repeats.
	MessagingMessageIDKey = attribute.Key("messaging.message.id")
	// MessagingBodySizeKey is the size of the message's body in bytes.
	MessagingBodySizeKey = attribute.Key("messaging.message.body.size")
	// MessagingBatchCountKey is the number of messages of one atomic batch.
	MessagingBatchCountKey = attribute.Key("messaging.batch.message_count")
	// MessagingConsumerGroupKey is the durable consumer's name.
	MessagingConsumerGroupKey = attribute.Key("messaging.consumer.group.name")
	// ErrorTypeKey is the class of a failure: terminal, transient or worker-gone.
	ErrorTypeKey = attribute.Key("error.type")
	// ServerAddressKey is the host name of the NATS server.
	ServerAddressKey = attribute.Key("server.address")
	// ServerPortKey is the port of the NATS server.
	ServerPortKey = attribute.Key("server.port")

	// MessagingSystem is the value of [MessagingSystemKey].
	MessagingSystem = "nats"
)

// Attribute names of this system, all under one prefix.
const (
	// JobKey is the job's id.
	JobKey = attribute.Key("proofmill.job")
	// KindKey is porep, winning, window or update.
	KindKey = attribute.Key("proofmill.kind")
	// CircuitKey is the circuit's id, which says kind and sector size.
	CircuitKey = attribute.Key("proofmill.circuit")
	// PartitionKey is the number of a partition, from 0.
	PartitionKey = attribute.Key("proofmill.partition")
	// AttemptKey is the number of a try, from 1. The timeline marks spans with 2 and more.
	AttemptKey = attribute.Key("proofmill.attempt")
	// DeadlineKey is the time by which the proof is wanted, RFC 3339.
	DeadlineKey = attribute.Key("proofmill.deadline")
	// PriorityKey is the class of the order of work: critical, high, normal or low.
	PriorityKey = attribute.Key("proofmill.priority")
	// WorkerKey is the name of the process that does the work.
	WorkerKey = attribute.Key("proofmill.worker")
	// GPUKey is the UUID of the device that does the work.
	GPUKey = attribute.Key("proofmill.gpu")
	// BytesKey is a size in bytes of what a span reads or writes.
	BytesKey = attribute.Key("proofmill.bytes")
	// ConstraintsKey is a circuit's number of constraints.
	ConstraintsKey = attribute.Key("proofmill.constraints")
)

// Messaging gives the attributes of a span about one message operation. The template, not the subject, belongs in the
// span's name: "publish " + template.
func Messaging(operation, operationType, subject, template string) []attribute.KeyValue {
	return []attribute.KeyValue{
		MessagingSystemKey.String(MessagingSystem),
		MessagingOperationNameKey.String(operation),
		MessagingOperationTypeKey.String(operationType),
		MessagingDestinationNameKey.String(subject),
		MessagingDestinationTemplateKey.String(template),
	}
}
