package dev.doorbell.verbs;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.contract.HcaWorld;
import dev.doorbell.core.Probe;
import dev.doorbell.verbs.device.DeviceFilter;
import dev.doorbell.verbs.library.VerbsProbe;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;

/** {@link Scenario} by {@code ibv_post_send}, on whatever device this machine has. */
class SoftRoceScenarioTest {
  @Test
  void every_operation_moves_its_bytes() {
    Probe probe = VerbsProbe.probe();
    assumeTrue(probe instanceof Probe.Ready, probe.describe());
    try (HcaWorld world =
        new VerbsWorld(
            EnumSet.allOf(HcaWorld.Feature.class),
            (fabric, nic) -> new VerbsHca(fabric, nic, DeviceFilter.ALL, -1))) {
      Scenario.run(world);
    }
  }
}
