package dev.doorbell.verbs;

import dev.doorbell.contract.HcaDynamicContractTest;
import dev.doorbell.contract.HcaWorld;

/** As {@link Mlx5HcaContractTest}: dynamic connections. */
class Mlx5HcaDynamicContractTest extends HcaDynamicContractTest {
  @Override
  protected HcaWorld newWorld() {
    return VerbsWorld.ofMlx5();
  }
}
