package dev.doorbell.softhca;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.softhca.device.SoftHcaOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random requests over a wire that loses, doubles, reorders and delays packets have the outcome
 * that {@link RcModel} says, whatever the wire does.
 */
class RcPropertyTest {
  private static final int EVERYDAY = 600;
  private static final int SLOW = 40_000;
  private static final int FEW = 150;

  /** Sequences of one world: its numbers and keys are used up slowly. */
  private static final int PER_WORLD = 300;

  @Test
  void random_sequences_over_a_faulty_wire_never_diverge_from_the_model() {
    run(1, EVERYDAY);
  }

  /**
   * {@code -Ddoorbell.rc.sequences} chooses how many, {@code -Ddoorbell.rc.seed} where to begin.
   */
  @Test
  @Tag("slow")
  void many_random_sequences_over_a_faulty_wire_never_diverge_from_the_model() {
    run(
        Long.getLong("doorbell.rc.seed", 1_000_000),
        Integer.getInteger("doorbell.rc.sequences", SLOW));
  }

  private static void run(long firstSeed, int sequences) {
    for (int from = 0; from < sequences; from += PER_WORLD) {
      int mtu = from / PER_WORLD % 2 == 0 ? 256 : 1024;
      try (SteppedWorld world = SteppedWorld.withMtu(mtu)) {
        run(world, mtu, firstSeed, from, Math.min(sequences, from + PER_WORLD));
      }
    }
  }

  /** READs are asked for in parts, bursts are cut off, and what is late is sent again. */
  @ParameterizedTest
  @ValueSource(ints = {4, 9, 40})
  void they_do_not_over_one_that_bears_few_packets_either(int window) {
    SoftHcaOptions impatient =
        SoftHcaOptions.DEFAULT.withEngine(
            new SoftHcaOptions.Engine(256, 64, 32, 1024).withFirstRetry(20_000));
    try (SteppedWorld world = new SteppedWorld(impatient)) {
      world.wire.window = window;
      run(world, 256, 50_000L * window, 0, FEW);
    }
  }

  /** Requests of the model overlap: a fence on each keeps their order. */
  @Test
  void they_do_not_where_packets_are_placed_in_any_order_but_each_request_is_fenced() {
    Adapter adapter = UnorderedHcaTransportContractTest.unordered();
    SoftHcaOptions unordered =
        SoftHcaOptions.DEFAULT
            .withEngine(new SoftHcaOptions.Engine(256, 64, 32, 1024))
            .withAdapter(adapter.with("+fence", adapter.promises().fenced()));
    try (SteppedWorld world = new SteppedWorld(unordered)) {
      run(world, 256, 70_000, 0, FEW);
    }
  }

  private static void run(SteppedWorld world, int mtu, long firstSeed, int from, int to) {
    ProtectionDomain[] domains = {
      world.hca(0).allocateProtectionDomain(), world.hca(1).allocateProtectionDomain()
    };
    for (int i = from; i < to; i++) {
      new RcSequence(world, domains, mtu, firstSeed + i, i % 3 != 0).check();
    }
  }
}
