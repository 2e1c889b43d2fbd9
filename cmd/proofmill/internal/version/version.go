// Package version says which build this is.
package version

import (
	"runtime"
	"runtime/debug"
)

// number is set by the linker: make build gives what `git describe` says.
var number string //nolint:gochecknoglobals // the linker can set only a variable

// Info describes the build.
type Info struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Get reads what the linker and the Go toolchain noted in the binary.
func Get() Info {
	info := Info{Version: number, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	build, ok := debug.ReadBuildInfo()
	if ok {
		for _, setting := range build.Settings {
			if setting.Key == "vcs.revision" {
				info.Commit = setting.Value
			}
		}
	}
	if info.Version == "" && ok {
		info.Version = build.Main.Version
	}
	if info.Version == "" {
		info.Version = "(devel)"
	}
	return info
}
