package dev.doorbell.core.fabric.timed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.timed.machine.GpuRefinements;
import dev.doorbell.core.fabric.timed.machine.Prices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.MemoryKind;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Phases at which writes find pollers: drawn at random, so that no delay makes anything earlier.
 */
class PollPhasesTest {
  private static final int RELAXED = Access.RELAXED | Access.SYS;

  private static final int WAITS = 400;

  /** A round of the GPU: there and back, 450 ns each, and 90 ns in between. */
  private static final double ROUND = 990;

  /** Four standard errors of a mean of {@link #WAITS} phases. */
  private static final double CHANCE = 4 * ROUND / Math.sqrt(12.0 * WAITS);

  private static Topology drifting() {
    return RoundConstants.refined(
        Prices.of(GpuRefinements.class, Map.of("pollsDrift", true, "fenceAwaitsArrival", false)));
  }

  /**
   * A GPU asks by one store and polls host memory for the answer; a CPU answers after {@code
   * delay}. Returns the mean nanoseconds of a question and its answer.
   */
  private static double mean(long seed, long delay) {
    try (World world = new World(new TimedFabric(drifting(), seed))) {
      Allocation host = world.allocate(MemoryKind.HOST, 4096);
      long question = host.address();
      long answer = host.address() + 512;
      World.Script gpu = world.thread(World.GPU);
      World.Script cpu = world.thread(World.CPU);
      for (long wait = 1; wait <= WAITS; wait++) {
        long number = wait;
        gpu.then(p -> p.store64(question, number, RELAXED))
            .poll(p -> p.load64(answer, RELAXED), number);
        cpu.poll(p -> p.load64(question, RELAXED), number)
            .then(p -> p.spend(delay))
            .then(p -> p.store64(answer, number, RELAXED));
      }
      return (double) world.nanos(gpu) / WAITS;
    }
  }

  @Test
  void a_delay_makes_nothing_earlier_in_the_mean() {
    double before = mean(1, 0);
    for (long delay = 150; delay <= 3000; delay += 150) {
      double now = mean(1, delay);
      assertThat(now - before).as("%d ns", delay).isGreaterThan(-CHANCE);
      before = now;
    }
  }

  @Test
  void beyond_the_first_round_a_delay_is_seen_whole() {
    double least = mean(1, 1500);
    for (long delay = 1700; delay <= 5000; delay += 700) {
      assertThat(mean(1, delay)).as("%d ns", delay).isCloseTo(least + delay - 1500, within(CHANCE));
    }
  }

  @Test
  void a_write_is_seen_half_a_round_later_and_half_a_way_back_in_the_mean() {
    // To the CPU, which looks at once; half a round until the next look; and the answer's way back.
    assertThat(mean(2, 5000)).isCloseTo(450 + 5000 + ROUND / 2 + 90 + 450, within(CHANCE));
  }

  @Test
  void phases_are_those_of_the_seed() {
    assertThat(mean(3, 2700)).isEqualTo(mean(3, 2700)).isNotEqualTo(mean(4, 2700));
  }

  /** A CPU writes to another word of the GPU's memory each time, as an HCA does to its CQ. */
  private static double meanOfNewCells(long delay) {
    Topology base = drifting();
    Topology slow =
        Prices.with(
            base,
            Map.of(
                "gpus", List.of(Prices.with(base.gpus().getFirst(), Map.of("strongLoad", 200)))));
    try (World world = new World(new TimedFabric(slow, 5))) {
      Allocation device = world.allocate(MemoryKind.DEVICE, 1 << 16);
      Allocation host = world.allocate(MemoryKind.HOST, 4096);
      World.Script gpu = world.thread(World.GPU);
      World.Script cpu = world.thread(World.CPU);
      for (long wait = 1; wait <= WAITS; wait++) {
        long number = wait;
        long cell = device.address() + 64 * wait;
        gpu.then(p -> p.store64(host.address(), number, RELAXED))
            .poll(p -> p.load64(cell, RELAXED), number);
        cpu.poll(p -> p.load64(host.address(), RELAXED), number)
            .then(p -> p.spend(delay))
            .then(p -> p.store64(cell, number, RELAXED));
      }
      return (double) world.nanos(gpu) / WAITS;
    }
  }

  @Test
  void a_poller_of_its_own_memory_is_not_in_step_either() {
    double least = meanOfNewCells(4000);
    for (long delay = 4030; delay <= 4300; delay += 90) {
      assertThat(meanOfNewCells(delay))
          .as("%d ns", delay)
          .isCloseTo(least + delay - 4000, within(25.0));
    }
  }
}
