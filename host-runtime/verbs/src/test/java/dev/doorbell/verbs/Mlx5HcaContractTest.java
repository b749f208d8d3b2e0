package dev.doorbell.verbs;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.contract.FabricMemory;
import dev.doorbell.contract.HcaContractTest;
import dev.doorbell.contract.HcaWorld;
import dev.doorbell.core.Probe;
import java.util.EnumSet;

/**
 * The HCA by DEVX, on whatever mlx5 device this machine has; {@link LibMlx5Test} runs it on one
 * that needs no hardware.
 */
class Mlx5HcaContractTest extends HcaContractTest {
  @Override
  protected HcaWorld newWorld() {
    Probe probe = VerbsProbe.probeMlx5();
    assumeTrue(probe instanceof Probe.Ready, probe.describe());
    return new VerbsWorld(
        EnumSet.of(
            HcaWorld.Feature.RESPONDER_EVENTS, HcaWorld.Feature.COMPLETION_QUEUE_EVENTS),
        (fabric, nic) ->
            new Mlx5Hca(
                fabric, nic, DeviceFilter.ALL, -1, FabricMemory.of(fabric.memory(), nic.rank())));
  }
}
