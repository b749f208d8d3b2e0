package dev.doorbell.core.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FaultInjectorTest {
  private static List<Integer> strikes(FaultInjector injector, FaultEvent event, int events) {
    List<Integer> struck = new ArrayList<>();
    for (int i = 0; i < events; i++) {
      if (injector.on(event, 0, 0x0a, i) != null) {
        struck.add(i);
      }
    }
    return struck;
  }

  private static FaultInjector of(Fault... faults) {
    return new FaultPlan(42, List.of(faults)).bind(0, 0, 0);
  }

  private static Fault lose(FaultTrigger trigger) {
    return Fault.of(FaultAction.LOSE, FaultEvent.PACKET_SENT, trigger);
  }

  @Test
  void a_fault_strikes_the_events_that_its_trigger_names() {
    assertThat(strikes(of(lose(FaultTrigger.at(3))), FaultEvent.PACKET_SENT, 10))
        .containsExactly(3);
    assertThat(strikes(of(lose(new FaultTrigger(2, 8, 3, 1, 0, 9))), FaultEvent.PACKET_SENT, 20))
        .containsExactly(2, 5, 8);
    assertThat(strikes(of(lose(new FaultTrigger(0, 99, 1, 1, 5, 2))), FaultEvent.PACKET_SENT, 20))
        .containsExactly(5, 6);
    assertThat(strikes(of(lose(FaultTrigger.chance(1))), FaultEvent.PACKET_RECEIVED, 5)).isEmpty();
  }

  @Test
  void chance_is_near_its_probability_and_the_same_for_the_same_seed() {
    List<Integer> first =
        strikes(of(lose(FaultTrigger.chance(0.01))), FaultEvent.PACKET_SENT, 100_000);
    // 1,000 expected, standard deviation 31.5: five of them either way.
    assertThat(first).hasSizeBetween(842, 1158);
    assertThat(strikes(of(lose(FaultTrigger.chance(0.01))), FaultEvent.PACKET_SENT, 100_000))
        .isEqualTo(first);
    FaultInjector elsewhere =
        new FaultPlan(42, List.of(lose(FaultTrigger.chance(0.01)))).bind(1, 0, 0);
    assertThat(strikes(elsewhere, FaultEvent.PACKET_SENT, 100_000)).isNotEqualTo(first);
  }

  /** Many short transfers are to meet as many faults as one long one. */
  @Test
  void transfers_have_chances_of_their_own() {
    FaultPlan plan = new FaultPlan(3, List.of(lose(FaultTrigger.chance(0.01))));
    int struck = 0;
    for (int transfer = 0; transfer < 1000; transfer++) {
      struck +=
          strikes(plan.forTransfer(transfer).bind(0, 0, 0), FaultEvent.PACKET_SENT, 100).size();
    }
    // As above: 1,000 expected of 100,000 events.
    assertThat(struck).isBetween(842, 1158);
    assertThat(plan.forTransfer(7)).isEqualTo(plan.forTransfer(7));
  }

  @Test
  @SuppressWarnings("ReferenceEquality") // which of the two
  void one_more_fault_behind_it_changes_nothing_of_when_a_fault_strikes() {
    Fault chance = lose(FaultTrigger.chance(0.2));
    Fault other = Fault.of(FaultAction.CORRUPT, FaultEvent.PACKET_SENT, FaultTrigger.chance(0.3));
    List<Integer> alone = strikes(of(chance), FaultEvent.PACKET_SENT, 1000);
    FaultInjector both = of(chance, other);
    List<Integer> first = new ArrayList<>();
    int second = 0;
    for (int i = 0; i < 1000; i++) {
      Fault struck = both.on(FaultEvent.PACKET_SENT, 0, 0x0a, i);
      if (struck == chance) {
        first.add(i);
      } else if (struck == other) {
        second++;
      }
    }
    assertThat(first).isEqualTo(alone);
    assertThat(second).isPositive();
  }

  @Test
  void a_fault_meant_for_somebody_else_does_not_strike() {
    Fault mine = lose(FaultTrigger.chance(1)).on(new FaultTarget(3, 0, 2)).onOpcode(0x0a);
    FaultPlan plan = new FaultPlan(1, List.of(mine));
    assertThat(plan.bind(2, 0, 0).on(FaultEvent.PACKET_SENT, 2, 0x0a, 0)).isNull();
    FaultInjector injector = plan.bind(3, 0, 0);
    assertThat(injector.on(FaultEvent.PACKET_SENT, 1, 0x0a, 0)).isNull();
    assertThat(injector.on(FaultEvent.PACKET_SENT, 2, 0x0b, 0)).isNull();
    assertThat(injector.on(FaultEvent.PACKET_SENT, 2, 0x0a, 0)).isEqualTo(mine);
  }

  @Test
  void what_fired_is_counted_over_all_devices_and_what_did_not_but_must_is_missed() {
    Fault hits = lose(FaultTrigger.at(1)).required();
    Fault misses = lose(FaultTrigger.at(1000)).required();
    FaultPlan plan = new FaultPlan(1, List.of(hits, misses));
    List<FaultInjector> devices = List.of(plan.bind(0, 0, 0), plan.bind(1, 0, 0));
    devices.forEach(device -> strikes(device, FaultEvent.PACKET_SENT, 10));
    List<FaultCount> counts = FaultCount.total(plan, devices);
    assertThat(counts.get(0)).isEqualTo(new FaultCount(hits, 20, 2));
    assertThat(counts.get(1)).isEqualTo(new FaultCount(misses, 20, 0));
    assertThat(counts).extracting(FaultCount::missed).containsExactly(false, true);
  }

  @Test
  void a_link_that_went_down_comes_up_after_its_time() {
    Fault down =
        Fault.of(FaultAction.LINK_DOWN, FaultEvent.PACKET_SENT, FaultTrigger.at(2)).lasting(100);
    FaultInjector injector = of(down);
    for (int i = 0; i < 3; i++) {
      assertThat(injector.linkIsDown(i)).isFalse();
      injector.on(FaultEvent.PACKET_SENT, 0, 0x0a, i);
    }
    assertThat(injector.linkIsDown(2)).isTrue();
    assertThat(injector.linkIsDown(101)).isTrue();
    assertThat(injector.linkDownUntil()).isEqualTo(102);
    assertThat(injector.linkIsDown(102)).isFalse();
  }

  @Test
  void doorbells_stay_lost_for_a_while_after_the_one_that_begins_it() {
    Fault lost =
        Fault.of(FaultAction.DOORBELL_LOST, FaultEvent.DOORBELL, FaultTrigger.at(1)).lasting(100);
    FaultInjector injector = of(lost);
    assertThat(injector.on(FaultEvent.DOORBELL, 0, -1, 10)).isNull();
    assertThat(injector.on(FaultEvent.DOORBELL, 0, -1, 20)).isEqualTo(lost);
    assertThat(injector.on(FaultEvent.DOORBELL, 0, -1, 119)).isEqualTo(lost);
    assertThat(injector.on(FaultEvent.DOORBELL, 0, -1, 120)).isNull();
  }

  @Test
  void impossible_faults_are_refused() {
    assertThatThrownBy(() -> Fault.of(FaultAction.LOSE, FaultEvent.CQE, FaultTrigger.chance(1)))
        .hasMessageContaining("'lose' cannot happen at a cqe");
    assertThatThrownBy(() -> new FaultTrigger(3, 2, 1, 1, 0, 1))
        .hasMessageContaining("impossible trigger");
    assertThatThrownBy(() -> FaultTrigger.chance(1.5)).hasMessageContaining("probability");
  }
}
