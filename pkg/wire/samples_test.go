package wire

import "bytes"

// sampleMessages has one full message of each type, the source of the golden bytes and the fuzzers' seeds.
func sampleMessages() map[string]Message {
	statement := Statement{
		Kind: KindUpdate, RegisteredProof: 3, SectorSize: 32 << 30, Miner: 1000, Sector: 77,
		CommROld: SumOf([]byte("old")), CommRNew: SumOf([]byte("new")), CommDNew: SumOf([]byte("data")),
	}
	inputs := Inputs{
		List: []Input{
			InlineInput([]byte("vanilla")),
			{Object: 1, Offset: 10, Size: 90, SHA256: SumOf([]byte("range"))},
		},
		Objects: []ObjectRef{{Bucket: "PM_INPUTS", Name: "in.1", Size: 100, SHA256: SumOf([]byte("object"))}},
	}
	key := JobKey{Account: "main", ID: ContentID(&statement, inputs.List)}
	task := Task{
		JobKey: key, Run: 1, Kind: KindUpdate, Circuit: "snap-32g", Partition: 3, Partitions: 16, Attempt: 2,
		Priority: Normal, Deadline: 1_900_000_000_000,
	}
	stages := []Stage{{Name: "check", Start: 1_800_000_000_000_000, Micros: 1500}, {Name: "msm_h", Start: 1_800_000_000_002_000, Micros: 470_000}}
	failure := Errorf(CodeBadVanillaProof, "sector 77, challenge 5: the path does not end in comm_r").With("sector", "77").With("challenge", "5")
	timing := PartitionTiming{Partition: 3, Attempt: 2, SynthWorker: "synth-1", ProveWorker: "gpu-1", Device: "GPU-1", Stages: stages}
	return map[string]Message{
		"request": &Request{Account: "main", Statement: statement, Label: "snap-1000-77", Priority: Normal, Deadline: 1_900_000_000_000, Run: 1, Inputs: inputs},
		"request_post": &Request{Account: "main", Statement: Statement{Kind: KindWindowPoSt, RegisteredProof: 10, SectorSize: 2048, Miner: 1000,
			PartitionIndex: 1, Randomness: SumOf([]byte("beacon"))}, Priority: High, Run: 2, Inputs: Inputs{List: []Input{InlineInput([]byte{1})}}},
		"synth_job": &SynthJob{Task: task, Statement: statement, Inputs: inputs},
		"prove_job": &ProveJob{Task: task, Blob: ObjectRef{Bucket: "PM_BLOBS", Name: "b.1", Size: 25_000_000, SHA256: SumOf([]byte("blob"))},
			R1CS: SumOf([]byte("r1cs")), Publics: SumOf([]byte("publics")), Worker: "synth-1", Stages: stages},
		"partition_proof": &PartitionProof{Task: task, Proof: bytes.Repeat([]byte{7}, ProofBytes), Worker: "gpu-1", SynthWorker: "synth-1",
			Device: "GPU-1", VK: SumOf([]byte("vk")), Stages: stages},
		"partition_failure": &PartitionProof{Task: task, Error: failure, Worker: "synth-1"},
		"result_completed": &Result{JobKey: key, Run: 1, Kind: KindUpdate, Circuit: "snap-32g", Label: "snap-1000-77", Status: Completed,
			Proof: bytes.Repeat([]byte{9}, 2*ProofBytes), VK: SumOf([]byte("vk")), Submitted: 1_800_000_000_000, Finished: 1_800_000_009_000,
			Partitions: []PartitionTiming{timing}, Stages: stages[:1]},
		"result_failed": &Result{JobKey: key, Run: 2, Kind: KindUpdate, Status: Failed, Error: failure, Submitted: 1, Finished: 2},
		"cancel":        &Cancel{JobKey: key, Run: 1, Reason: "the caller's context ended"},
		"status_query":  &StatusQuery{JobKey: key},
		"reply":         &Reply{JobKey: key, Found: true, Run: 1, State: JobRunning, Live: true, Done: 3, Total: 16},
		"progress": &Progress{JobKey: key, Run: 1, State: JobRunning, Partition: 3, Part: PartitionProving, Attempt: 2, Stage: "msm_h",
			Done: 2, Total: 16, Worker: "gpu-1", At: 1_800_000_005_000},
		"worker_info": &WorkerInfo{Name: "gpu-1", Service: "gpuprove", Host: "host", PID: 42, Software: "1.0.0", Started: 1, Seen: 2, Slots: 2, Busy: 1,
			Ready: true, Circuits: []Key{{Circuit: "snap-32g", VK: SumOf([]byte("vk"))}}, Resident: []string{"snap-32g"},
			Devices: []Device{{UUID: "GPU-1", Name: "H200", PCI: "0000:01:00.0", TotalBytes: 141 << 30, FreeBytes: 90 << 30}}, Jobs: []JobID{key.ID}, Done: 10, Failed: 1},
		"job_record": &JobRecord{JobKey: key, Run: 1, Statement: statement, Circuit: "snap-32g", Label: "snap-1000-77", Priority: Normal,
			Deadline: 1_900_000_000_000, State: JobRunning, Submitted: 1, Updated: 2, Objects: inputs.Objects,
			Trace: map[string]string{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
			Partitions: []PartitionRecord{
				{State: PartitionVerified, Attempt: 1, Since: 3, Proof: bytes.Repeat([]byte{7}, ProofBytes), Timing: timing},
				{State: PartitionQueued, Attempt: 2, Since: 4, LastError: failure},
			}},
	}
}

// emptyOf gives a new zero message of m's type.
func emptyOf(m Message) Message {
	switch m.(type) {
	case *Request:
		return new(Request)
	case *SynthJob:
		return new(SynthJob)
	case *ProveJob:
		return new(ProveJob)
	case *PartitionProof:
		return new(PartitionProof)
	case *Result:
		return new(Result)
	case *Cancel:
		return new(Cancel)
	case *StatusQuery:
		return new(StatusQuery)
	case *Reply:
		return new(Reply)
	case *Progress:
		return new(Progress)
	case *WorkerInfo:
		return new(WorkerInfo)
	case *JobRecord:
		return new(JobRecord)
	}
	panic("unknown message")
}
