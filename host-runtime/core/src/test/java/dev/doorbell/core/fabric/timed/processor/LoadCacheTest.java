package dev.doorbell.core.fabric.timed.processor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.memory.AddressSpace;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** {@link LoadCache}: what hits, and that it does not depend on where a process has its memory. */
class LoadCacheTest {
  private static final int SECTOR = 32;

  @Test
  void a_sector_is_there_from_its_first_load_until_an_acquire() {
    LoadCache cache = new LoadCache(SECTOR, new LoadCache.Tags(), 0);
    assertThat(cache.arrival(64, 1, 9)).isEqualTo(9);
    assertThat(cache.arrival(95, 20, 30)).isEqualTo(20);
    assertThat(cache.arrival(96, 20, 30)).isEqualTo(30);
    cache.forget();
    assertThat(cache.arrival(64, 20, 30)).isEqualTo(30);
  }

  @Test
  void an_acquire_empties_the_cache_however_many_sectors_were_loaded_and_stored_to() {
    LoadCache.Tags tags = new LoadCache.Tags();
    LoadCache cache = new LoadCache(SECTOR, tags, 3);
    LoadCache neighbour = new LoadCache(SECTOR, tags, 4);
    neighbour.arrival(0, 1, 2);
    long now = 10;
    for (int sectors : new int[] {1, 9, 100, 511, 512, 2000, 5}) {
      for (int round = 0; round < 3; round++) {
        for (int i = 0; i < sectors; i++) {
          cache.arrival((long) i * SECTOR, now, ++now);
          if (i % 3 == round) {
            cache.drop((long) i * SECTOR);
          }
        }
      }
      cache.forget();
      for (int i = 0; i < sectors; i++) {
        assertThat(cache.holds((long) i * SECTOR, now)).isFalse();
      }
      assertThat(neighbour.holds(0, now)).isTrue();
    }
  }

  @Test
  void the_same_loads_hit_wherever_the_address_space_begins() {
    assertThat(hits(0x7f00_0000_0000L)).isEqualTo(hits(0x7fc3_4000_0000L)).contains(true, false);
  }

  @Test
  void a_load_of_a_sector_on_its_way_waits_for_it_however_many_are() {
    LoadCache cache = new LoadCache(SECTOR, new LoadCache.Tags(), 0);
    int sectors = 40;
    for (int i = 0; i < sectors; i++) {
      cache.arrival((long) i * SECTOR, 10 + i, 1000 + i);
    }
    List<Long> again = new ArrayList<>();
    for (int i = 0; i < sectors; i++) {
      again.add(cache.arrival((long) i * SECTOR, 60, 1100));
    }
    // A sector that shares its place with a later one was loaded anew.
    for (int i = 0; i < sectors; i++) {
      assertThat(again.get(i)).isIn(1000L + i, 1100L);
    }
    assertThat(again).contains(1000L, 1000L + sectors - 1);
    assertThat(cache.arrival((sectors - 1L) * SECTOR, 2000, 3000)).isEqualTo(2000);
  }

  @Test
  void the_few_sectors_of_a_post_hardly_ever_drive_each_other_out() {
    Random random = new Random(3);
    int late = 0;
    for (int post = 0; post < 1000; post++) {
      LoadCache cache = new LoadCache(SECTOR, new LoadCache.Tags(), 0);
      List<Long> sectors = random.longs(20, 0, 1 << 20).map(n -> n * SECTOR).boxed().toList();
      sectors.forEach(address -> cache.arrival(address, 1, 2));
      late += sectors.stream().allMatch(address -> cache.arrival(address, 10, 20) == 10) ? 0 : 1;
    }
    assertThat(late).isLessThan(50); // some 300 where each has one place
  }

  @Test
  void random_loads_are_there_when_a_table_of_all_fills_says() {
    LoadCache cache = new LoadCache(SECTOR, new LoadCache.Tags(), 0);
    Random random = new Random(7);
    Map<Long, Long> filled = new HashMap<>();
    long hit = 0;
    for (int i = 0; i < 50_000; i++) {
      hit += random.nextInt(40);
      long address = (long) SECTOR * random.nextInt(3); // three sectors with places of their own
      long miss = hit + 900;
      if (random.nextInt(8) == 0) {
        cache.forget();
        filled.clear();
      }
      long expected = Math.max(hit, filled.getOrDefault(address, miss));
      filled.putIfAbsent(address, miss);
      assertThat(cache.arrival(address, hit, miss)).isEqualTo(expected);
    }
  }

  @Test
  void threads_that_have_their_tags_together_hit_what_they_have_loaded_themselves() {
    LoadCache.Tags tags = new LoadCache.Tags();
    List<LoadCache> together = new ArrayList<>();
    List<LoadCache> apart = new ArrayList<>();
    for (int thread = 0; thread < LoadCache.THREADS; thread++) {
      together.add(new LoadCache(SECTOR, tags, thread));
      apart.add(new LoadCache(SECTOR, new LoadCache.Tags(), 0));
    }
    Random random = new Random(11);
    for (int i = 0; i < 50_000; i++) {
      int thread = random.nextInt(LoadCache.THREADS);
      long address = (long) SECTOR * random.nextInt(600);
      long hit = 100L * i;
      if (random.nextInt(2000) == 0) {
        together.get(thread).forget();
        apart.get(thread).forget();
      }
      assertThat(together.get(thread).arrival(address, hit, hit + 50))
          .isEqualTo(apart.get(thread).arrival(address, hit, hit + 50));
    }
  }

  private static List<Boolean> hits(long base) {
    assertThat(base % AddressSpace.ALIGNMENT).isZero();
    LoadCache cache = new LoadCache(SECTOR, new LoadCache.Tags(), 0);
    Random random = new Random(5);
    List<Boolean> hits = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      long hit = 100L * i;
      hits.add(cache.arrival(base + 64L * random.nextInt(1024), hit, hit + 50) == hit);
    }
    return hits;
  }
}
