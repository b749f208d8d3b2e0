package dev.doorbell.interop.shim.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

/** Tests the state by which programs and the serving thread tell each other about its sleep. */
final class ServerSleepTest {
  private static final int AWAKE = 0;
  private static final int ASLEEP = 1;

  private final ServerSleep sleep = new ServerSleep();

  private long attach(Object program) {
    Arena arena = Arena.ofShared();
    Lease lease = new Lease(arena.allocate(4096, 8).address(), 4096, () -> {});
    sleep.attach(program, lease);
    return lease.address();
  }

  @Test
  void a_program_that_rings_meanwhile_is_told_from_none() {
    long first = attach("first");
    long second = attach("second");

    sleep.begin();
    assertThat(RawMemory.getInt(first)).isEqualTo(ASLEEP);
    assertThat(sleep.end()).isFalse();

    sleep.begin();
    assertThat(RawMemory.compareAndExchangeInt(second, ASLEEP, AWAKE)).isEqualTo(ASLEEP);
    assertThat(sleep.end()).isTrue();
    assertThat(RawMemory.getInt(first)).isEqualTo(AWAKE);

    sleep.begin();
    assertThat(sleep.end()).isFalse();
  }
}
