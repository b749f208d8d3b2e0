package dev.doorbell.verbs;

import dev.doorbell.contract.HcaDynamicContractTest;
import dev.doorbell.contract.HcaWorld;

/** Dynamic connections on the device of {@link Mlx5HcaContractTest}. */
class Mlx5HcaDynamicContractTest extends HcaDynamicContractTest {
  @Override
  protected HcaWorld newWorld() {
    return VerbsWorld.ofMlx5();
  }
}
