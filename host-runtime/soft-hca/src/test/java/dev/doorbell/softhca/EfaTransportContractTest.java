package dev.doorbell.softhca;

import dev.doorbell.contract.HcaWorld;

/** The transport contract on an HCA with queues of the Elastic Fabric Adapter. */
class EfaTransportContractTest extends ForeignTransportContract {
  EfaTransportContractTest() {
    super("efa", HcaWorld.Feature.ORDERED_MESSAGES);
  }
}
