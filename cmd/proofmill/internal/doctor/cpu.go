package doctor

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"strings"
)

// features are the processor's abilities that the arithmetic uses, by the kernel's names for them.
var features = []struct{ flag, name, use string }{
	{"adx", "ADX", "field multiplication"},
	{"bmi2", "BMI2", "field multiplication"},
	{"sha_ni", "SHA", "SHA-256 of public inputs and challenges"},
	{"avx512f", "AVX-512", "vectors of field elements"},
	{"avx512ifma", "AVX-512 IFMA", "vectors of field elements"},
}

// CPU looks at the processor's features, of root's proc/cpuinfo.
func CPU(root fs.FS, arch string) Check {
	c := Check{Name: "processor"}
	text, err := fs.ReadFile(root, "proc/cpuinfo")
	if err != nil {
		c.Status, c.Text = Skipped, "its features are known only on Linux: "+err.Error()
		return c
	}
	model, flags, threads := parseCPU(text)
	c.Details = map[string]any{"model": model, "threads": threads, "arch": arch}
	if arch != "amd64" {
		c.Status, c.Do = Warning, "expect slower proofs on the processor; GPUs are not affected"
		c.Text = fmt.Sprintf("%s, %d threads, %s: the arithmetic has no assembly for it", model, threads, arch)
		return c
	}
	var have, lack []string
	for _, f := range features {
		c.Details[f.flag] = flags[f.flag]
		if flags[f.flag] {
			have = append(have, f.name)
		} else {
			lack = append(lack, f.name)
		}
	}
	c.Status, c.Text = OK, fmt.Sprintf("%s, %d threads", model, threads)
	if len(have) > 0 {
		c.Text += ", with " + strings.Join(have, ", ")
	}
	if len(lack) > 0 {
		c.Text += ", without " + strings.Join(lack, ", ")
	}
	if !flags["adx"] || !flags["bmi2"] {
		c.Status, c.Do = Warning, "let the virtual machine see the host's processor: without ADX and BMI2 field multiplication takes a slow path"
	}
	return c
}

// parseCPU reads the first processor of a cpuinfo, and counts them.
func parseCPU(text []byte) (model string, flags map[string]bool, threads int) {
	model, flags = "processor", map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(name) {
		case "processor":
			threads++
		case "model name":
			model = value
		case "flags":
			for flag := range strings.FieldsSeq(value) {
				flags[flag] = true
			}
		}
	}
	return model, flags, threads
}
