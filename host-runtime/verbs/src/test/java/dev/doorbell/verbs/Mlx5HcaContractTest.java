package dev.doorbell.verbs;

import dev.doorbell.contract.HcaContractTest;
import dev.doorbell.contract.HcaWorld;

/**
 * The HCA by DEVX, on whatever mlx5 device this machine has; {@link LibMlx5Test} runs it on one
 * that needs no hardware.
 */
class Mlx5HcaContractTest extends HcaContractTest {
  @Override
  protected HcaWorld newWorld() {
    return VerbsWorld.ofMlx5();
  }
}
