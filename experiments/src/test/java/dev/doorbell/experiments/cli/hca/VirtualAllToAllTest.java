package dev.doorbell.experiments.cli.hca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.fault.FaultTrigger;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.interop.alltoall.AllToAllOptions;
import dev.doorbell.interop.alltoall.AllToAllReport;
import dev.doorbell.interop.alltoall.VirtualAllToAll;
import dev.doorbell.interop.control.HostPort;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The all-to-all in virtual time, over the built-in topology. */
class VirtualAllToAllTest {
  private static final long TEN_MINUTES = 600_000_000_000L;

  private static AllToAllReport virtual(long seed) throws Exception {
    FaultTrigger often = FaultTrigger.chance(0.01);
    FaultPlan bad =
        new FaultPlan(
            11,
            List.of(
                Fault.of(FaultAction.LOSE, FaultEvent.PACKET_SENT, often),
                Fault.of(FaultAction.DUPLICATE, FaultEvent.PACKET_SENT, often),
                Fault.of(FaultAction.REORDER, FaultEvent.PACKET_SENT, often)));
    return VirtualAllToAll.run(
        new AllToAllOptions(new HostPort("127.0.0.1", 0), 0, 1, 3, 3_000, seed, bad, TEN_MINUTES),
        TopologyFile.load("same-switch"),
        () -> false);
  }

  @Test
  void in_virtual_time_the_same_seed_repeats_every_packet_and_another_does_not() throws Exception {
    AllToAllReport once = virtual(7);
    assertThat(once.isRight()).isTrue();
    assertThat(once.faults()).extracting(FaultCount::fired).allMatch(fired -> fired > 0);
    assertThat(once.digest()).matches("[0-9a-f]{16}");
    AllToAllReport again = virtual(7);
    assertThat(again.digest()).isEqualTo(once.digest());
    assertThat(again.nanos()).isEqualTo(once.nanos());
    AllToAllReport other = virtual(8);
    assertThat(other.isRight()).isTrue();
    assertThat(other.digest()).isNotEqualTo(once.digest());
  }
}
