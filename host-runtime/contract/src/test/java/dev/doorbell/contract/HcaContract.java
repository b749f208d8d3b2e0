package dev.doorbell.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Syndrome;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Two HCAs, and what all contract tests do with them. A back end provides the world. */
abstract class HcaContract {
  static final Endpoint.Shape USUAL = Endpoint.Shape.usual();

  HcaWorld world;

  /** A fresh pair of connected HCAs. */
  protected abstract HcaWorld newWorld();

  @BeforeEach
  void open() {
    world = newWorld();
  }

  /** Closes the world; there is none if the test was skipped because the back end has no device. */
  @AfterEach
  void close() {
    if (world != null) {
      world.close();
    }
  }

  void assumeHas(HcaWorld.Feature feature) {
    assumeFalse(world.lacks().contains(feature), "no " + feature + " here");
  }

  /** The next asynchronous event, where the HCA reports any. */
  void assertEvent(int side, @Nullable AsyncEvent expected) {
    if (!world.lacks().contains(HcaWorld.Feature.ASYNC_EVENTS)) {
      assertThat(world.hca(side).pollAsyncEvent()).isEqualTo(expected);
    }
  }

  /** The syndrome, or any error but a flush where the HCA does not tell them apart. */
  void assertSyndrome(Endpoint.Completion completion, int syndrome) {
    if (world.lacks().contains(HcaWorld.Feature.PRECISE_SYNDROMES)) {
      assertThat(completion.isError()).as("%s", completion).isTrue();
      assertThat(completion.syndrome()).as("%s", completion).isNotEqualTo(Syndrome.FLUSHED);
    } else {
      assertThat(completion.syndrome()).as("%s", completion).isEqualTo(syndrome);
    }
  }

  /** A flush, or any error where the HCA does not tell them apart or orders no messages. */
  void assertFlushed(Endpoint.Completion completion) {
    assertThat(completion.isError()).as("%s", completion).isTrue();
    if (!world.lacks().contains(HcaWorld.Feature.PRECISE_SYNDROMES)
        && !world.lacks().contains(HcaWorld.Feature.ORDERED_MESSAGES)) {
      assertThat(completion.syndrome()).as("%s", completion).isEqualTo(Syndrome.FLUSHED);
    }
  }

  Endpoint[] pair() {
    return pair(USUAL, USUAL);
  }

  Endpoint[] pair(Endpoint.Shape first, Endpoint.Shape second) {
    return pair(first, second, ConnectionAttributes.DEFAULT);
  }

  Endpoint[] pair(Endpoint.Shape first, Endpoint.Shape second, ConnectionAttributes attributes) {
    Endpoint a = new Endpoint(world, 0, first);
    Endpoint b = new Endpoint(world, 1, second);
    Endpoint.connect(a, b, attributes);
    return new Endpoint[] {a, b};
  }

  static byte[] noise(long seed, int bytes) {
    byte[] noise = new byte[bytes];
    new Random(seed).nextBytes(noise);
    return noise;
  }

  static void assertSuccess(Endpoint.Completion completion, int opcode, long index) {
    assertThat(completion.opcode()).as("CQE opcode of %s", completion).isEqualTo(Cqe.REQUESTER);
    assertThat(completion.wqeOpcode()).isEqualTo(opcode);
    assertThat(completion.counter()).isEqualTo((int) index & 0xffff);
  }
}
