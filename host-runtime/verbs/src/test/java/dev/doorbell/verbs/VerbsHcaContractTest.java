package dev.doorbell.verbs;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.contract.HcaContractTest;
import dev.doorbell.contract.HcaWorld;
import dev.doorbell.core.Probe;
import dev.doorbell.verbs.device.DeviceFilter;
import dev.doorbell.verbs.library.VerbsProbe;
import java.util.EnumSet;

/**
 * The HCA by {@code ibv_post_send}, on whatever device this machine has; {@link SoftRoceTest} runs
 * it where there is one.
 */
class VerbsHcaContractTest extends HcaContractTest {
  @Override
  protected HcaWorld newWorld() {
    Probe probe = VerbsProbe.probe();
    assumeTrue(probe instanceof Probe.Ready, probe.describe());
    return new VerbsWorld(
        EnumSet.of(
            HcaWorld.Feature.MASKED_ATOMICS,
            HcaWorld.Feature.WAIT,
            HcaWorld.Feature.DUMP,
            HcaWorld.Feature.RESPONDER_ERRORS,
            HcaWorld.Feature.COMPLETION_EVENTS,
            HcaWorld.Feature.ASYNC_EVENTS,
            HcaWorld.Feature.PRECISE_SYNDROMES),
        (fabric, nic) -> new VerbsHca(fabric, nic, DeviceFilter.ALL, -1));
  }
}
