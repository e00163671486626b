// What all plugins behind the bridge do: they answer with the schema that was made of their own tables when they were built.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"

	pf "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfgen"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag/colors"
)

//go:embed schema.json
var schema []byte

// serve answers as a plugin; with MALOKO_WRITE_SCHEMA it writes the schema to that file instead.
func serve(info tfbridge.ProviderInfo) {
	file := os.Getenv("MALOKO_WRITE_SCHEMA")
	if file == "" {
		pf.Main(context.Background(), info.Name, info, pf.ProviderMetadata{PackageSchema: schema})
		return
	}
	if err := write(info, file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(info tfbridge.ProviderInfo, file string) error {
	quiet := diag.DefaultSink(io.Discard, os.Stderr, diag.FormatOptions{Color: colors.Never})
	options := tfgen.GenerateSchemaOptions{ProviderInfo: info, DiagnosticsSink: quiet, XInMemoryDocs: true}
	made, err := tfgen.GenerateSchema(context.Background(), options)
	if err != nil {
		return err
	}
	var members map[string]any
	if err := json.Unmarshal(made.ProviderMetadata.PackageSchema, &members); err != nil {
		return err
	}
	members["version"] = info.Version
	text, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
