package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/config"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/doctor"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/output"
	"github.com/proofmill/proofmill/pkg/gpu"
	"github.com/proofmill/proofmill/pkg/groth16"
)

func init() { register(groupOperate, newDoctorCommand) }

const doctorLong = `Looks at this machine and says whether Proofmill can work here: processor, memory, limits, disks, parameters, NATS where
a setting names one, GPUs with their memory errors and clocks. Each line has a status and, where something is wrong, what to
do. It ends with 1 if a check failed; warnings do not count.

The self-proof makes a WinningPoSt of 2 KiB with fixed randomness on the processor and on each GPU: its bytes must equal the
reference's. The first time it makes test parameters, 50 MB in the user's cache directory, which takes some seconds.`

func newDoctorCommand(a *app) *cobra.Command {
	selfProof := true
	command := &cobra.Command{
		Use: "doctor", Short: "Check this machine: hardware, limits, parameters, NATS, GPUs, and an exact self-proof", Long: doctorLong,
		RunE: func(command *cobra.Command, _ []string) error { return runDoctor(command.Context(), a, selfProof) },
	}
	flags := command.Flags()
	flags.BoolVar(&selfProof, "self-proof", true, "Make a proof and compare its bytes")
	for name, key := range map[string]string{
		"backend": "gpuprove.backend", "library": "gpuprove.library", "devices": "gpuprove.devices", "params-dir": "params.dir", "test-params": "params.test",
	} {
		a.config.Flag(flags, name, key)
	}
	a.addNATSFlags(command)
	return command
}

func runDoctor(ctx context.Context, a *app, selfProof bool) error {
	root := os.DirFS("/")
	checks := []doctor.Check{doctor.CPU(root, runtime.GOARCH), doctor.Memory(root, a.getenv("GOMEMLIMIT")), doctor.Files()}
	placed, err := a.doctorPlaces()
	if err != nil {
		return err
	}
	checks = append(checks, placed...)
	checks = append(checks, a.doctorNATS(ctx))
	more, lib, devices := a.doctorCUDA()
	checks = append(checks, more...)
	if selfProof {
		checks = append(checks, a.doctorProofs(ctx, lib, devices)...)
	} else {
		checks = append(checks, doctor.Check{Name: "self-proof", Status: doctor.Skipped, Text: "not asked for"})
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	report := doctor.Summarize(checks)
	if err := a.out.Print(report, func(t *output.Text) { doctorText(t, report) }); err != nil {
		return err
	}
	if n := report.Failures(); n > 0 {
		return exit.Errorf(exit.Failed, "%d of %d checks failed", n, len(checks))
	}
	return nil
}

// doctorPlaces looks at the parameters and at the disks that are written to.
func (a *app) doctorPlaces() ([]doctor.Check, error) {
	dir, err := a.params.directory()
	if err != nil {
		return nil, err
	}
	checks := doctor.Params(dir, a.params.policy(), a.fleet.gpuprove.Circuits)
	checks = append(checks, doctor.Disk("parameters", dir))
	store := a.up.Store
	if store == "" {
		if store, err = a.stateDir(); err != nil {
			return nil, err
		}
	}
	checks = append(checks, doctor.Disk("streams", store))
	return append(checks, doctor.Disk("temporary files", os.TempDir())), nil
}

// doctorNATS looks at the fleet's server where a setting names one.
func (a *app) doctorNATS(ctx context.Context) doctor.Check {
	configured := slices.ContainsFunc(a.config.Entries(), func(e config.Entry) bool {
		return e.Key == "nats.url" && e.Origin != config.OriginDefault
	})
	if !configured {
		return doctor.Check{Name: "NATS", Status: doctor.Skipped, Text: "no setting names a server: say --nats URL"}
	}
	options, err := a.nats.options()
	if err != nil {
		return doctor.Check{Name: "NATS", Status: doctor.Failed, Text: err.Error(), Do: "mend the section nats of the configuration"}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(a.nats.Timeout))
	defer cancel()
	return doctor.NATS(ctx, a.nats.URL, a.nats.Domain, options...)
}

// doctorCUDA looks at library, driver and cards. The cards are those to prove on.
func (a *app) doctorCUDA() ([]doctor.Check, *gpu.Library, []gpu.Info) {
	s := &a.fleet.gpuprove
	wanted := s.Backend == backendCUDA
	monitor, monitorErr := doctor.OpenNVML()
	if monitorErr == nil {
		defer func() {
			if err := monitor.Close(); err != nil {
				a.logs.Warn("NVML did not close", "error", err)
			}
		}()
	}
	lib, err := gpu.Open(s.Library)
	checks := []doctor.Check{doctor.Library(lib, err, wanted, monitorErr == nil)}
	if err != nil {
		return checks, nil, nil
	}
	more, devices := doctor.Devices(lib, wanted, monitor, monitorErr)
	checks = append(checks, more...)
	for _, uuid := range s.Devices {
		if !slices.ContainsFunc(devices, func(d gpu.Info) bool { return d.UUID == uuid }) {
			checks = append(checks, doctor.Check{
				Name: "gpuprove.devices", Status: doctor.Failed, Text: fmt.Sprintf("%.60s is not a usable device", uuid), Do: "mend the setting; nvidia-smi -L lists the UUIDs",
			})
		}
	}
	if len(s.Devices) > 0 {
		devices = slices.DeleteFunc(devices, func(d gpu.Info) bool { return !slices.Contains(s.Devices, d.UUID) })
	}
	return checks, lib, devices
}

// doctorProofs makes the self-proofs, on the processor and on each device.
func (a *app) doctorProofs(ctx context.Context, lib *gpu.Library, devices []gpu.Info) (checks []doctor.Check) {
	failed := func(err error) []doctor.Check {
		return []doctor.Check{{Name: "self-proof", Status: doctor.Failed, Text: err.Error(), Do: "make the cache directory writable, or set " + envParams}}
	}
	dir, err := testParamsDir()
	if err != nil {
		return failed(err)
	}
	fixture, err := doctor.Prepare(ctx, dir)
	if err != nil {
		return failed(err)
	}
	defer func() {
		if err := fixture.Close(); err != nil {
			checks = append(checks, failed(err)...)
		}
	}()
	checks = append(checks, fixture.SelfProof("cpu", func() (*groth16.Proof, error) { return fixture.ProveCPU(ctx) }))
	for _, info := range devices {
		if errors.Is(ctx.Err(), context.Canceled) {
			break
		}
		checks = append(checks, fixture.SelfProof(fmt.Sprintf("GPU %d", info.Index), func() (*groth16.Proof, error) {
			return fixture.ProveGPU(ctx, lib, info, int64(a.fleet.gpuprove.VRAM))
		}))
	}
	return checks
}

func doctorText(t *output.Text, r *doctor.Report) {
	rows := make([][]string, 0, len(r.Checks))
	for _, c := range r.Checks {
		rows = append(rows, []string{c.Name, string(c.Status), c.Text})
		if c.Do != "" {
			rows = append(rows, []string{"", "", "-> " + c.Do})
		}
	}
	t.Table(output.Columns("check", "status", ""), rows)
	t.Linef("")
	t.Linef("%s", r.Status)
}
