package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** On a wire that hurts one packet in a hundred, every byte arrives on every adapter. */
class LossyAdapterTest {
  private static final int MTU = 256;
  private static final double HURT = 0.01;
  private static final int WINDOW = 32;
  private static final int SLOT = 1024;
  private static final int EVERYDAY = 40;
  private static final int MANY = 1_000_000 / WINDOW + 1;

  /** What the heap may grow by between a tenth of the messages and all of them. */
  private static final long FLAT_BYTES = 16L << 20;

  static List<Adapter> adapters() {
    return Adapters.all();
  }

  @ParameterizedTest
  @MethodSource("adapters")
  void every_byte_arrives(Adapter adapter) {
    send(adapter, EVERYDAY);
  }

  @ParameterizedTest
  @ValueSource(strings = {"cx8-ooo-all", "efa"})
  @Tag("slow")
  void every_byte_of_a_million_messages_arrives_in_any_order_in_flat_memory(String adapter) {
    send(Adapters.named(adapter), MANY);
  }

  private static void send(Adapter adapter, int windows) {
    SoftHcaOptions options =
        SoftHcaOptions.DEFAULT
            .withEngine(new SoftHcaOptions.Engine(MTU, 64, 32, 1024).withFirstRetry(100_000))
            .withAdapter(adapter);
    try (SteppedWorld world = new SteppedWorld(options);
        Endpoint a = new Endpoint(world, 0, Endpoint.Shape.usual());
        Endpoint b = new Endpoint(world, 1, Endpoint.Shape.usual())) {
      Endpoint.connect(a, b, new ConnectionAttributes(14, 7, 7, 12, 16, 16, 0));
      Random random = new Random(1);
      long early = 0;
      int hurt = 0;
      for (int window = 0; window < windows; window++) {
        world.wire.plan(window, HURT, Integer.MAX_VALUE);
        window(a, b, random);
        hurt += world.wire.faults;
        if (windows == MANY && window == windows / 10) {
          early = used();
        }
      }
      assertThat(hurt).isPositive();
      world.wire.plan(0, 0, 0);
      world.run(1_000_000_000L);
      assertThat(world.soft(0).packets().out() + world.soft(1).packets().out()).isZero();
      if (windows == MANY) {
        assertThat(used() - early).isLessThan(FLAT_BYTES);
      }
    }
  }

  /** Messages of one to three packets, each to a slot of its own. */
  private static void window(Endpoint a, Endpoint b, Random random) {
    byte[] payload = new byte[WINDOW * SLOT];
    random.nextBytes(payload);
    a.buffer.putBytes(0, payload);
    int[] sizes = new int[WINDOW];
    for (int i = 0; i < WINDOW; i++) {
      sizes[i] = 1 + random.nextInt(3 * MTU);
      a.rdmaWrite(b, (long) i * SLOT, (long) i * SLOT, sizes[i]).write();
    }
    a.record();
    a.ring();
    for (int i = 0; i < WINDOW; i++) {
      assertThat(a.pollSend().isError()).isFalse();
    }
    byte[] arrived = b.buffer.getBytes(0, WINDOW * SLOT);
    for (int i = 0; i < WINDOW; i++) {
      int from = i * SLOT;
      int mismatch =
          Arrays.mismatch(payload, from, from + sizes[i], arrived, from, from + sizes[i]);
      assertThat(mismatch).as("message %d", i).isEqualTo(-1);
    }
  }

  private static long used() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
