// Package client is what a Go program imports to have proofs made by a Proofmill fleet.
//
//	c, err := client.Dial(ctx, client.Config{URL: "nats://prover:4222", Name: "curio-1"})
//	...
//	defer c.Close()
//	result, err := c.Prove(ctx, client.Request{
//		Statement: wire.Statement{Kind: wire.KindWinningPoSt, RegisteredProof: 3, Miner: 1000, Randomness: randomness},
//		Vanilla:   [][]byte{vanilla},
//		Deadline:  base.Add(25 * time.Second),
//	})
//
// A job is its content: the same request again, from this process after a restart or from another one, attaches to the job
// that is under way or gets the stored result; nothing is proved twice. Connections come back by themselves and Await goes on.
// A failed, cancelled or expired job is started anew by submitting it again.
//
// Errors are *wire.Error with a class: wire.Terminal (the same request fails again), wire.Transient (try again later), or
// wire.WorkerGone. The package depends on nats.go, MessagePack and the OpenTelemetry API only.
package client
