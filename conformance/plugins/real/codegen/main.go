// Makes an SDK with the official generator: codegen python|nodejs SCHEMA FOLDER. Schemas of other packages that this one
// refers to are looked for beside it, as NAME.json.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

type beside struct{ folder string }

func (b beside) LoadPackage(name string, _ *semver.Version) (*schema.Package, error) {
	return b.load(filepath.Join(b.folder, name+".json"))
}

func (b beside) LoadPackageV2(_ context.Context, found *schema.PackageDescriptor) (*schema.Package, error) {
	return b.LoadPackage(found.PackageName(), nil)
}

func (b beside) load(file string) (*schema.Package, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var spec schema.PackageSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return nil, err
	}
	if spec.Version == "" {
		spec.Version = "1.0.0"
	}
	found, problems, err := schema.BindSpec(spec, b, schema.ValidationOptions{AllowDanglingReferences: true})
	if err != nil {
		return nil, err
	}
	for _, problem := range problems {
		fmt.Fprintln(os.Stderr, problem)
	}
	if problems.HasErrors() {
		return nil, fmt.Errorf("%s cannot be bound", file)
	}
	return found, nil
}

func run() error {
	language, file, folder := os.Args[1], os.Args[2], os.Args[3]
	found, err := beside{filepath.Dir(file)}.load(file)
	if err != nil {
		return err
	}
	var files map[string][]byte
	if language == "python" {
		files, err = python.GeneratePackage("official", found, nil, nil)
	} else {
		files, err = nodejs.GeneratePackage("official", found, nil, nil, false, nil)
	}
	if err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(folder, name)
		if !strings.HasPrefix(path, filepath.Clean(folder)) {
			return fmt.Errorf("%s is outside", name)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
