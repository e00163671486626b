// The plugin of the package random: the Terraform provider behind the official bridge, as the published one is made.
//
// Its answers to plans, states and secrets are the bridge's; only this table of names is written here.
package main

import (
	"context"
	"errors"

	pf "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge/tokens"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	provider "github.com/terraform-providers/terraform-provider-random/shim"
)

// version is set by the linker to that of the SDK which is used with it.
var version = "0.0.1"

func main() {
	info := tfbridge.ProviderInfo{
		P:            pf.ShimProvider(provider.New()),
		Name:         "random",
		Version:      version,
		MetadataInfo: tfbridge.NewProviderMetadata([]byte("{}")),
		Resources: map[string]*tfbridge.ResourceInfo{
			"random_bytes": {ComputeID: bytesID},
		},
		EnableAccurateBridgePreview: true,
		EnableRawStateDelta:         true,
	}
	name := func(module, name string) (string, error) {
		return tokens.MakeStandard("random")(module, "Random"+name)
	}
	info.MustComputeTokens(tokens.SingleModule("random_", "index", name))
	serve(info)
}

// Random bytes have no attribute `id`: their text is it.
func bytesID(_ context.Context, state resource.PropertyMap) (resource.ID, error) {
	value := state["base64"]
	if value.IsSecret() {
		value = value.SecretValue().Element
	}
	if !value.IsString() {
		return "", errors.New("no text in base64")
	}
	return resource.ID(value.StringValue()), nil
}
