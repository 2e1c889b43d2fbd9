package gpu

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// header reads the library's C header without its comments.
func header(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "cuda", "include", "proofmill_cuda.h"))
	if err != nil {
		t.Skipf("the header is not here: %v", err)
	}
	return regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(string(b), "")
}

// kindOf is what a C type is for the calling convention.
func kindOf(c string) string {
	fields := strings.Fields(strings.ReplaceAll(c, "*", " * "))
	switch {
	case strings.Contains(c, "*"):
		return "pointer"
	case len(fields) == 1: // a result
		return fields[0]
	}
	return fields[len(fields)-2]
}

// goKind is the same of a Go type.
func goKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Uintptr, reflect.UnsafePointer:
		return "pointer"
	case reflect.Int32, reflect.Uint32, reflect.Uint64:
		return t.Kind().String() + "_t"
	default:
		return t.String()
	}
}

// TestDeclarationsAreTheHeaders compares each call's arguments and result with the header.
func TestDeclarationsAreTheHeaders(t *testing.T) {
	text := header(t)
	declared := map[string]string{}
	for _, m := range regexp.MustCompile(`(?s)PM_API\s+(\w+)\s+(pm_\w+)\((.*?)\);`).FindAllStringSubmatch(text, -1) {
		var kinds []string
		if strings.TrimSpace(m[3]) != "void" {
			for a := range strings.SplitSeq(m[3], ",") {
				kinds = append(kinds, kindOf(a))
			}
		}
		declared[m[2]] = fmt.Sprint(kinds, m[1])
	}
	for name, target := range new(functions).table() {
		f := reflect.TypeOf(target).Elem()
		var kinds []string
		for in := range f.Ins() {
			kinds = append(kinds, goKind(in))
		}
		result := "void"
		if f.NumOut() == 1 {
			result = goKind(f.Out(0))
		}
		if got := fmt.Sprint(kinds, result); got != declared[name] {
			t.Errorf("%s is %s in Go, %s in the header", name, got, declared[name])
		}
	}
	version := regexp.MustCompile(`#define PM_ABI_VERSION (\d+)`).FindStringSubmatch(text)
	if len(version) != 2 || version[1] != fmt.Sprint(abiVersion) {
		t.Errorf("the header has version %v, this package speaks %d", version, abiVersion)
	}
}
