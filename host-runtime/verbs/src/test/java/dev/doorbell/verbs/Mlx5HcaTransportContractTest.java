package dev.doorbell.verbs;

import dev.doorbell.contract.HcaTransportContractTest;
import dev.doorbell.contract.HcaWorld;

/** Transports, shared receives and events on the device of {@link Mlx5HcaContractTest}. */
class Mlx5HcaTransportContractTest extends HcaTransportContractTest {
  @Override
  protected HcaWorld newWorld() {
    return VerbsWorld.ofMlx5();
  }
}
