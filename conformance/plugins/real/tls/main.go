// The plugin of the package tls: the Terraform provider behind the official bridge, as the published one is made.
package main

import (
	provider "github.com/hashicorp/terraform-provider-tls/shim"
	pf "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge/tokens"
)

// version is set by the linker to that of the SDK which is used with it.
var version = "0.0.1"

func main() {
	info := tfbridge.ProviderInfo{
		P:                           pf.ShimProvider(provider.New()),
		Name:                        "tls",
		Version:                     version,
		MetadataInfo:                tfbridge.NewProviderMetadata([]byte("{}")),
		EnableAccurateBridgePreview: true,
		EnableRawStateDelta:         true,
	}
	info.MustComputeTokens(tokens.SingleModule("tls_", "index", tokens.MakeStandard("tls")))
	serve(info)
}
