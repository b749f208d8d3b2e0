package dev.doorbell.core.fabric.timed.processor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.memory.AddressSpace;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** {@link LoadCache}: what hits, and that it does not depend on where a process has its memory. */
class LoadCacheTest {
  private static final int SECTOR = 32;

  @Test
  void a_sector_is_there_from_its_first_load_until_an_acquire() {
    LoadCache cache = new LoadCache(SECTOR);
    assertThat(cache.arrival(64, 1, 9)).isEqualTo(9);
    assertThat(cache.arrival(95, 20, 30)).isEqualTo(20);
    assertThat(cache.arrival(96, 20, 30)).isEqualTo(30);
    cache.forget();
    assertThat(cache.arrival(64, 20, 30)).isEqualTo(30);
  }

  @Test
  void the_same_loads_hit_wherever_the_address_space_begins() {
    assertThat(hits(0x7f00_0000_0000L)).isEqualTo(hits(0x7fc3_4000_0000L)).contains(true, false);
  }

  private static List<Boolean> hits(long base) {
    assertThat(base % AddressSpace.ALIGNMENT).isZero();
    LoadCache cache = new LoadCache(SECTOR);
    Random random = new Random(5);
    List<Boolean> hits = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      long hit = 100L * i;
      hits.add(cache.arrival(base + 64L * random.nextInt(1024), hit, hit + 50) == hit);
    }
    return hits;
  }
}
