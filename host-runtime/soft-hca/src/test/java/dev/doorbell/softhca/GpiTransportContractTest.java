package dev.doorbell.softhca;

import dev.doorbell.contract.HcaWorld;

/** The transport contract on an HCA with queues of GPI, whose completions are a counter. */
class GpiTransportContractTest extends ForeignTransportContract {
  GpiTransportContractTest() {
    super("gpi", HcaWorld.Feature.PRECISE_SYNDROMES);
  }
}
