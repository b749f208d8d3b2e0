package dev.doorbell.verbs;

import dev.doorbell.contract.HcaTransportContractTest;
import dev.doorbell.contract.HcaWorld;

/** As {@link Mlx5HcaContractTest}: transports, shared receives, events. */
class Mlx5HcaTransportContractTest extends HcaTransportContractTest {
  @Override
  protected HcaWorld newWorld() {
    return VerbsWorld.ofMlx5();
  }
}
