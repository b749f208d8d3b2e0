package dev.doorbell.interop.alltoall;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.fault.FaultTrigger;
import dev.doorbell.interop.control.HostPort;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Ranks write to, read from and count at each other over UDP on a bad wire. */
class AllToAllTest {
  private static final long TEN_MINUTES = 600_000_000_000L;

  @Test
  void what_is_lost_duplicated_and_reordered_arrives_once_and_right() throws Exception {
    FaultTrigger often = FaultTrigger.chance(0.01);
    FaultPlan bad =
        new FaultPlan(
            11,
            List.of(
                Fault.of(FaultAction.LOSE, FaultEvent.PACKET_SENT, often),
                Fault.of(FaultAction.DUPLICATE, FaultEvent.PACKET_SENT, often),
                Fault.of(FaultAction.REORDER, FaultEvent.PACKET_SENT, often),
                Fault.of(FaultAction.CORRUPT, FaultEvent.PACKET_SENT, often)));
    AllToAllReport report =
        RemoteAllToAll.run(
            new AllToAllOptions(new HostPort("127.0.0.1", 0), 0, 1, 3, 6_000, 5, bad, TEN_MINUTES),
            () -> false);
    assertThat(report.messages()).isGreaterThanOrEqualTo(6_000);
    assertThat(report.bytesWrong()).isZero();
    assertThat(report.atomicsWrong()).isZero();
    assertThat(report.faults()).extracting(FaultCount::fired).allMatch(fired -> fired > 0);
  }
}
