package dev.doorbell.experiments.scenario.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.fault.FaultTarget;
import dev.doorbell.core.fault.FaultTrigger;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.scenario.recovery.SupervisedKernel.Remedy;
import dev.doorbell.experiments.scenario.recovery.SupervisedKernel.Shape;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.proxy.recovery.PostingSupervisor.Recovery;
import dev.doorbell.proxy.recovery.PostingSupervisor.SupervisionPolicy;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A kernel goes on after whatever fails, and each of its operations is applied once. */
class SupervisedKernelTest {
  private static final long SECONDS = 1_000_000_000L;
  private static final FaultTarget SENDER = new FaultTarget(0, 0, -1);
  private static final FaultTarget RECEIVER = new FaultTarget(1, 0, -1);
  private static final SupervisionPolicy POLICY =
      new SupervisionPolicy(5_000, 6_000_000, 50_000, 1_000_000_000, 8);

  /** What a run was like. */
  private record Run(List<Recovery> recoveries) {}

  /** Runs under a plan, and checks everything that has to be so whatever happens. */
  private static Run run(Shape shape, Remedy remedy, long seed, Fault... faults)
      throws ConfigException {
    FaultPlan plan = new FaultPlan(seed, List.of(faults));
    String what =
        "%s, %s, seed %d, %s"
            .formatted(shape, remedy, seed, plan.faults().stream().map(Fault::text).toList());
    try (SupervisedKernel kernel =
        new SupervisedKernel(TopologyFile.load("same-switch"), shape, remedy, POLICY, plan, seed)) {
      Launch launch = kernel.prepare().getFirst().get();
      assertThat(kernel.advance(launch::done, 10 * SECONDS))
          .as("%s: ends", what)
          .isEqualTo(RunOutcome.DONE);
      launch.check();
      kernel.fabric().quiesce();
      assertThat(kernel.firstError()).as("%s: %s", what, kernel.supervisor().recoveries()).isNull();
      assertThat(kernel.ports().faults(plan))
          .as("%s: all have happened", what)
          .allMatch(count -> count.fired() > 0 || !count.fault().mustFire());
      assertThat(kernel.traffic().verdict().text()).as(what).isNull();
      assertThat(kernel.traffic().disorder()).as(what).isNull();
      Run run = new Run(kernel.supervisor().recoveries());
      assertThat(kernel.executed())
          .as("%s: messages that the peer has executed; %s", what, run)
          .isEqualTo(kernel.traffic().messages());
      return run;
    }
  }

  private static Fault at(FaultAction action, FaultEvent event, long first, long last) {
    return Fault.of(action, event, new FaultTrigger(first, last, 1, 1, 0, Long.MAX_VALUE))
        .required();
  }

  @Test
  void without_faults_nothing_has_to_be_recovered() throws ConfigException {
    Run run = run(new Shape(4, 40, 256, 8, false), Remedy.RESET, 1);
    assertThat(run.recoveries()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(Remedy.class)
  void an_error_cqe_in_the_middle_of_a_kernel(Remedy remedy) throws ConfigException {
    Run run =
        run(
            new Shape(4, 60, 256, 8, false),
            remedy,
            2,
            at(FaultAction.CQE_ERROR, FaultEvent.WQE, 100, 100).with(0x15).on(SENDER));
    assertThat(run.recoveries())
        .singleElement()
        .satisfies(
            one -> {
              assertThat(one.cause()).isEqualTo(Recovery.Cause.ERROR);
              assertThat(one.replayed()).isPositive();
              assertThat(one.lost()).isZero();
              assertThat(one.to())
                  .isEqualTo(
                      switch (remedy) {
                        case RESET -> "port0";
                        case FAILOVER -> "port1";
                      });
            });
  }

  @Test
  void answers_that_are_lost_are_not_asked_for_twice() throws ConfigException {
    // Rank 0 hears nothing any more from some packet on: what was executed has no completion.
    Run run =
        run(
            new Shape(1, 60, 256, 16, false),
            Remedy.FAILOVER,
            3,
            at(FaultAction.LOSE, FaultEvent.PACKET_RECEIVED, 15, Long.MAX_VALUE).on(SENDER));
    assertThat(run.recoveries())
        .singleElement()
        .satisfies(one -> assertThat(one.executed()).isPositive());
  }

  @Test
  void a_port_that_is_down_is_left_for_the_other_one() throws ConfigException {
    Run run =
        run(
            new Shape(4, 60, 256, 8, false),
            Remedy.FAILOVER,
            4,
            at(FaultAction.LINK_DOWN, FaultEvent.PACKET_SENT, 80, 80)
                .lasting(10 * SECONDS)
                .on(RECEIVER));
    assertThat(run.recoveries())
        .singleElement()
        .satisfies(one -> assertThat(one.to()).isEqualTo("port1"));
  }

  @Test
  void a_link_that_comes_back_is_waited_for() throws ConfigException {
    Run run =
        run(
            new Shape(4, 60, 256, 8, false),
            Remedy.RESET,
            5,
            at(FaultAction.LINK_DOWN, FaultEvent.PACKET_SENT, 80, 80)
                .lasting(20_000_000)
                .on(RECEIVER));
    assertThat(run.recoveries())
        .singleElement()
        .satisfies(one -> assertThat(one.recoverNanos()).isGreaterThan(10_000_000));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void under_any_faults_each_operation_is_applied_once(long seed) throws ConfigException {
    underAnyFaults(seed);
  }

  @Test
  @Tag("slow")
  void under_any_faults_of_many_seeds_each_operation_is_applied_once() throws ConfigException {
    int seeds = Integer.getInteger("doorbell.recovery.seeds", 60);
    int recoveries = 0;
    for (long seed = 1000; seed < 1000 + seeds; seed++) {
      recoveries += underAnyFaults(seed);
    }
    assertThat(recoveries).isGreaterThan(seeds);
  }

  private static int underAnyFaults(long seed) throws ConfigException {
    int recoveries = 0;
    for (Remedy remedy : Remedy.values()) {
      Run run =
          run(
              new Shape(seed % 2 == 0 ? 1 : 5, 60, 300, (int) (seed % 3) * 4 + 1, seed % 4 == 3),
              remedy,
              seed,
              chance(FaultAction.QP_ERROR, FaultEvent.PACKET_SENT, 0.004),
              chance(FaultAction.QP_ERROR, FaultEvent.PACKET_RECEIVED, 0.004),
              chance(FaultAction.LOSE, FaultEvent.PACKET_SENT, 0.02),
              chance(FaultAction.DUPLICATE, FaultEvent.PACKET_SENT, 0.02),
              chance(FaultAction.CQE_LATE, FaultEvent.CQE, 0.02).lasting(20_000),
              chance(FaultAction.DOORBELL_LOST, FaultEvent.DOORBELL, 0.02));
      recoveries += run.recoveries().size();
    }
    return recoveries;
  }

  private static Fault chance(FaultAction action, FaultEvent event, double probability) {
    return Fault.of(action, event, FaultTrigger.chance(probability));
  }
}
