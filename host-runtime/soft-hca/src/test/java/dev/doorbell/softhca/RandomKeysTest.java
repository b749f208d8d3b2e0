package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Keys of an HCA whose clients do not trust each other. */
class RandomKeysTest {
  @Test
  void every_region_is_found_by_its_key_alone_while_others_come_and_go() {
    try (SteppedFabric fabric = new SteppedFabric(1 << 20);
        SoftHca hca =
            new SoftHca(
                fabric, Locus.nic(0, 0), "served", SoftHcaOptions.DEFAULT.withRandomNumbers());
        SoftProtectionDomain domain = hca.allocateProtectionDomain()) {
      Random random = new Random(7);
      Map<Integer, MemoryRegion> live = new LinkedHashMap<>();
      int stale = 0;
      for (int i = 0; i < 5_000; i++) {
        if (live.size() > 200 && random.nextInt(3) > 0) {
          MemoryRegion ended =
              live.values().stream().skip(random.nextInt(live.size())).findFirst().orElseThrow();
          live.remove(ended.lkey());
          ended.close();
          stale = ended.lkey();
          assertThat(hca.objects.regions.find(stale)).isNull();
        } else {
          MemoryRegion made =
              domain.register(
                  0, 0, 4096, EnumSet.noneOf(AccessRight.class), SoftProtectionDomain.ANY_VARIANT);
          assertThat(live.put(made.lkey(), made)).isNull();
        }
      }
      live.forEach((key, region) -> assertThat(hca.objects.regions.find(key)).isSameAs(region));
      for (int i = 0; i < 1_000; i++) {
        int guess = random.nextInt();
        SoftMemoryRegion found = hca.objects.regions.find(guess);
        assertThat(found == null || live.containsKey(guess)).isTrue();
      }
      live.values().forEach(MemoryRegion::close);
    }
  }
}
