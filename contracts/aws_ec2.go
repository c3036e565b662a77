package contracts

import "github.com/oncehttp/oncehttp"

// AWSEC2 are the actions of EC2 that take a ClientToken, RunInstances among
// them. A repeat succeeds without a second action, and its answer tells the
// present state. How long a token is kept is not written down; it is known in one
// Region only.
var AWSEC2 = oncehttp.Contract{
	Name: "aws-ec2",
	Match: oncehttp.Match{
		Hosts:     append(awsHosts("ec2"), "ec2.amazonaws.com"),
		Methods:   []string{"POST"},
		Operation: oncehttp.Operation{Kind: oncehttp.OperationForm, At: "Action", Names: ec2TokenActions()},
	},
	Carrier:  formField("ClientToken"),
	Key:      oncehttp.KeyRule{Max: 64},
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Origin:   awsOrigin("/Response/RequestID"),
	Answers: []oncehttp.Answer{
		awsThrottled("/Response/Errors/Error/Code"),
		{
			Status: []int{400}, At: []string{"/Response/Errors/Error/Code"}, Codes: []string{"IdempotentParameterMismatch"},
			Verdict: oncehttp.VerdictMismatch,
		},
	},
	Stored: oncehttp.Stored{Repeat: oncehttp.RepeatCurrent},
	Hints:  awsHints(),
	Pin:    oncehttp.PinHost,
	Proof:  oncehttp.ProofVendor,
	AsOf:   "2026-10-06",
	Sources: []string{
		"https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html",
		"github.com/boto/botocore@0e6e2404b8:botocore/data/ec2/2016-11-15/service-2.json",
	},
}

// ec2TokenActions are the actions whose input has a ClientToken in the service
// model of 2016-11-15, as of botocore 1.43.11.
func ec2TokenActions() []string {
	return []string{
		"AllocateHosts", "AllocateIpamPoolCidr", "AssociateClientVpnTargetNetwork", "AssociateIpamResourceDiscovery",
		"AssociateTrunkInterface", "AttachVerifiedAccessTrustProvider", "AuthorizeClientVpnIngress", "CopyFpgaImage",
		"CopyImage", "CopyVolumes", "CreateCapacityManagerDataExport", "CreateCapacityReservation",
		"CreateCapacityReservationBySplitting", "CreateCapacityReservationFleet", "CreateCarrierGateway",
		"CreateClientVpnEndpoint", "CreateClientVpnRoute", "CreateDelegateMacVolumeOwnershipTask",
		"CreateEgressOnlyInternetGateway", "CreateFleet", "CreateFlowLogs", "CreateFpgaImage", "CreateImageUsageReport",
		"CreateInstanceConnectEndpoint", "CreateInterruptibleCapacityReservationAllocation", "CreateIpam",
		"CreateIpamExternalResourceVerificationToken", "CreateIpamPolicy", "CreateIpamPool",
		"CreateIpamPrefixListResolver", "CreateIpamPrefixListResolverTarget", "CreateIpamResourceDiscovery",
		"CreateIpamScope", "CreateLaunchTemplate", "CreateLaunchTemplateVersion",
		"CreateMacSystemIntegrityProtectionModificationTask", "CreateManagedPrefixList", "CreateNatGateway",
		"CreateNetworkAcl", "CreateNetworkInsightsAccessScope", "CreateNetworkInsightsPath", "CreateNetworkInterface",
		"CreateReplaceRootVolumeTask", "CreateReservedInstancesListing", "CreateRouteServer", "CreateRouteServerEndpoint",
		"CreateRouteTable", "CreateSecondaryNetwork", "CreateSecondarySubnet", "CreateTrafficMirrorFilter",
		"CreateTrafficMirrorFilterRule", "CreateTrafficMirrorSession", "CreateTrafficMirrorTarget",
		"CreateVerifiedAccessEndpoint", "CreateVerifiedAccessGroup", "CreateVerifiedAccessInstance",
		"CreateVerifiedAccessTrustProvider", "CreateVolume", "CreateVpcEndpoint",
		"CreateVpcEndpointConnectionNotification", "CreateVpcEndpointServiceConfiguration", "DeleteSecondaryNetwork",
		"DeleteSecondarySubnet", "DeleteVerifiedAccessEndpoint", "DeleteVerifiedAccessGroup",
		"DeleteVerifiedAccessInstance", "DeleteVerifiedAccessTrustProvider", "DetachVerifiedAccessTrustProvider",
		"DisableCapacityManager", "DisassociateTrunkInterface", "EnableCapacityManager", "ExportImage", "ImportImage",
		"ImportSnapshot", "ModifyInstanceCreditSpecification", "ModifyIpamPrefixListResolverTarget",
		"ModifyLaunchTemplate", "ModifyReservedInstances", "ModifyVerifiedAccessEndpoint",
		"ModifyVerifiedAccessEndpointPolicy", "ModifyVerifiedAccessGroup", "ModifyVerifiedAccessGroupPolicy",
		"ModifyVerifiedAccessInstance", "ModifyVerifiedAccessInstanceLoggingConfiguration",
		"ModifyVerifiedAccessTrustProvider", "MoveCapacityReservationInstances", "ProvisionIpamPoolCidr",
		"PurchaseHostReservation", "PurchaseScheduledInstances", "RequestSpotInstances", "RunInstances",
		"RunScheduledInstances", "StartNetworkInsightsAccessScopeAnalysis", "StartNetworkInsightsAnalysis",
		"UpdateCapacityManagerMonitoredTagKeys", "UpdateCapacityManagerOrganizationsAccess",
	}
}
