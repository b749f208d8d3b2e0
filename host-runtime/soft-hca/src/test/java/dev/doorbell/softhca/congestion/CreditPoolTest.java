package dev.doorbell.softhca.congestion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.roce.Aeth;
import dev.doorbell.softhca.congestion.CreditPool.CreditControl;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CreditPoolTest {
  private static final int MTU = 1024;
  private static final long SILENCE = 10_000;

  private static int grant(CreditPool.Flow flow, long now) {
    flow.onArrival(now);
    return Aeth.credits(flow.acknowledge(now, 0));
  }

  @Test
  void senders_share_the_pool_and_a_silent_one_gives_its_part_back() {
    CreditPool pool = new CreditPool(64 * MTU, SILENCE);
    CreditPool.Flow first = pool.flow(MTU);
    CreditPool.Flow second = pool.flow(MTU);
    assertThat(grant(first, 0)).isEqualTo(64);
    // All is granted, and what is granted is not taken back: one packet, until some arrive.
    assertThat(grant(second, 10)).isEqualTo(1);
    for (int packet = 0; packet < 40; packet++) {
      grant(first, 20 + packet);
    }
    assertThat(grant(second, 100)).isEqualTo(32);
    assertThat(grant(first, 101)).isEqualTo(32);
    // The first one is silent.
    assertThat(grant(second, 101 + SILENCE + 1)).isEqualTo(64);
    assertThat(pool.senders()).isEqualTo(1);
  }

  @Test
  void what_arrived_behind_the_acknowledged_packet_is_no_credit() {
    CreditPool pool = new CreditPool(16 * MTU, SILENCE);
    CreditPool.Flow flow = pool.flow(MTU);
    flow.onArrival(0);
    flow.onArrival(1);
    assertThat(Aeth.credits(flow.acknowledge(1, 1))).isEqualTo(16);
    assertThat(pool.granted()).isEqualTo(15 * MTU);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void no_more_is_under_way_than_the_pool_and_a_packet_of_each_sender(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int senders = 1 + random.nextInt(20);
    long bytes = MTU * (1L + random.nextInt(40));
    CreditPool pool = new CreditPool(bytes, Long.MAX_VALUE / 2);
    List<CreditPool.Flow> flows = new ArrayList<>();
    int[] window = new int[senders];
    int[] underWay = new int[senders];
    int most = 0;
    for (int i = 0; i < senders; i++) {
      flows.add(pool.flow(MTU));
      window[i] = 1;
    }
    for (int round = 0; round < 20_000; round++) {
      int sender = random.nextInt(senders);
      if (random.nextBoolean()) {
        underWay[sender] = Math.max(underWay[sender], random.nextInt(window[sender] + 1));
      } else if (underWay[sender] > 0) {
        underWay[sender]--;
        window[sender] = Math.max(1, grant(flows.get(sender), round));
      }
      int sum = 0;
      for (int each : underWay) {
        sum += each;
      }
      most = Math.max(most, sum);
      assertThat((long) sum * MTU).isLessThanOrEqualTo(bytes + (long) senders * MTU);
      assertThat(pool.granted()).isLessThanOrEqualTo(bytes + (long) senders * MTU);
    }
    assertThat((long) most * MTU).isGreaterThanOrEqualTo(Math.min(bytes, (long) senders * MTU) / 2);
  }

  @Test
  void a_sender_without_an_answer_for_long_begins_with_one_packet() {
    CreditControl control = new CreditControl(5, MTU, SILENCE);
    assertThat(control.windowBytes(0)).isEqualTo(MTU);
    control.onCredits(100, 12);
    assertThat(control.windowBytes(100 + SILENCE)).isEqualTo(12L * MTU);
    assertThat(control.windowBytes(101 + SILENCE)).isEqualTo(MTU);
  }
}
