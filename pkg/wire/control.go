package wire

// Cancel asks to stop a job. Clients send it to the gateways; gateways send it on to the workers once the ledger says so.
type Cancel struct {
	Head   `msgpack:",inline"`
	JobKey `msgpack:",inline"`
	Run    uint32 `msgpack:"run,omitempty"` // 0: whichever run is under way
	Reason string `msgpack:"why,omitempty"`
}

// Validate implements Message.
func (c *Cancel) Validate() error {
	if err := c.JobKey.validate(); err != nil {
		return err
	}
	if len(c.Reason) > MaxErrorBytes {
		return Errorf(CodeBadRequest, "cancel of job %s: reason of %d bytes, at most %d", c.ID, len(c.Reason), MaxErrorBytes)
	}
	return nil
}

// StatusQuery asks the gateways for the state of a job.
type StatusQuery struct {
	Head   `msgpack:",inline"`
	JobKey `msgpack:",inline"`
}

// Validate implements Message.
func (q *StatusQuery) Validate() error { return q.JobKey.validate() }

// Reply answers Cancel and StatusQuery.
type Reply struct {
	Head   `msgpack:",inline"`
	JobKey `msgpack:",inline"`
	Found  bool     `msgpack:"found"` // the ledger has the job
	Run    uint32   `msgpack:"run,omitempty"`
	State  JobState `msgpack:"state,omitempty"` // after the request took effect
	Live   bool     `msgpack:"live"`            // it was under way before the request took effect
	Done   uint32   `msgpack:"done,omitempty"`  // partitions verified
	Total  uint32   `msgpack:"total,omitempty"` // partitions
	Error  *Error   `msgpack:"err,omitempty"`   // the request could not be served
}

// Validate implements Message.
func (r *Reply) Validate() error {
	if err := r.JobKey.validate(); err != nil {
		return err
	}
	if r.Found && !r.State.Valid() || r.Total > MaxPartitions || r.Done > r.Total {
		return Errorf(CodeBadMessage, "reply about job %s: state %d, %d of %d partitions", r.ID, r.State, r.Done, r.Total)
	}
	if r.Error != nil {
		return r.Error.validate()
	}
	return nil
}

// Progress tells that a job or one of its partitions reached a stage. It informs people and the ledger's view of partitions;
// nothing depends on its arrival.
type Progress struct {
	Head      `msgpack:",inline"`
	JobKey    `msgpack:",inline"`
	Run       uint32         `msgpack:"run"`
	State     JobState       `msgpack:"state"` // of the job
	Partition uint32         `msgpack:"part"`  // meaningful where Stage is not empty and Part is not zero
	Part      PartitionState `msgpack:"pst,omitempty"`
	Attempt   uint32         `msgpack:"try,omitempty"`
	Stage     string         `msgpack:"stage,omitempty"` // such as synth or msm_h
	Done      uint32         `msgpack:"done"`            // partitions verified, as far as the sender knows
	Total     uint32         `msgpack:"total"`           // partitions; 0: not known yet
	Worker    string         `msgpack:"wrk,omitempty"`
	At        Millis         `msgpack:"at"`
}

// Validate implements Message.
func (p *Progress) Validate() error {
	if err := p.JobKey.validate(); err != nil {
		return err
	}
	if !p.State.Valid() || p.Part > PartitionVerified || p.Total > MaxPartitions || p.Done > p.Total || p.Partition >= MaxPartitions {
		return Errorf(CodeBadMessage, "progress of job %s: state %d, partition %d in state %d, %d of %d done",
			p.ID, p.State, p.Partition, p.Part, p.Done, p.Total)
	}
	if p.Stage != "" {
		if err := validateToken("stage", p.Stage); err != nil {
			return err
		}
	}
	if p.Worker != "" {
		return validateToken("worker", p.Worker)
	}
	return nil
}
