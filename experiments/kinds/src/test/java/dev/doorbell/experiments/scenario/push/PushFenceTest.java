package dev.doorbell.experiments.scenario.push;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fabric.explore.ExploringFabric;
import dev.doorbell.core.fabric.explore.model.CalmChooser.RandomChooser;
import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.push.generated.PushRingView;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.push.PushChecker;
import dev.doorbell.push.PushChecker.PushViolation;
import dev.doorbell.push.PushEvent.Kind;
import dev.doorbell.push.PushOptions;
import dev.doorbell.push.RingShape;
import dev.doorbell.push.network.Cable;
import org.junit.jupiter.api.Test;

/** F3: a doorbell that arrives before the payload, in every order that the memory model allows. */
class PushFenceTest {
  private static final int SEEDS = 20;

  /** What became of the runs with seeds 1 to {@link #SEEDS}. */
  private record Tally(int violations, int early, int wrong) {}

  @Test
  void without_the_fence_phase_and_checksum_find_what_is_not_there_yet() {
    Tally tally = explore(PushRingView.NO_FENCE);
    assertThat(tally.early()).isPositive();
    assertThat(tally.violations()).isZero();
    assertThat(tally.wrong()).isZero();
  }

  @Test
  void with_the_fence_everything_below_the_doorbell_is_there() {
    assertThat(explore(0)).isEqualTo(new Tally(0, 0, 0));
  }

  private static Tally explore(int flags) {
    int violations = 0;
    int early = 0;
    int wrong = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
      ExploringFabric fabric =
          new ExploringFabric(
              AddressSpace.reserve(),
              new RandomChooser(seed),
              new ExploringFabric.Options(
                  Policy.STRICT, false, 60_000_000_000L, Adapter.DEFAULT.promises()));
      PushChecker checker = new PushChecker();
      Cable cable = new Cable(fabric, Locus.nic(0, 0), 100, Cable.Impairment.NONE);
      try (fabric;
          VmGpu gpu = new VmGpu(fabric, Locus.gpu(0, 0));
          VmGpu target = new VmGpu(fabric, Locus.gpu(1, 0));
          PushNode sender = new PushNode(fabric, gpu, cable, PushOptions.DEFAULT, checker);
          PushNode receiver = new PushNode(fabric, target, cable, PushOptions.DEFAULT, checker)) {
        sender.prepare(
            PushTraffic.of(RingShape.of(2, 64), 64, 6, 1)
                .with(it -> it.threads = 2)
                .with(it -> it.flags = PushRingView.CHECKSUMS | flags),
            seed);
        checker.watch(sender.engine(), sender.ring(0), null);
        Memory inbox = receiver.inbox(6 * 64);
        sender.launch(inbox.address(), 1_000_000_000L);
        fabric.run(sender::done, 1_000_000_000L);
        fabric.quiesce();
        wrong += sender.outcome() != 0 || sender.firstMissing(inbox, 0) >= 0 ? 1 : 0;
      } catch (PushViolation e) {
        violations++;
      }
      early += checker.count(Kind.EARLY) > 0 ? 1 : 0;
    }
    return new Tally(violations, early, wrong);
  }
}
