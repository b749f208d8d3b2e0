package dev.doorbell.core.fabric.timed.interconnect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.timed.event.Simulation.Sleeper;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The table against a list that is searched. */
class WatchesTest {
  private static final int SLEEPERS = 12_000;
  private static final long ROOM = 1L << 20;

  private record Watch(long address, int bytes, Sleeper sleeper) {}

  @Test
  void a_write_wakes_those_who_watch_one_of_its_bytes_and_nobody_else() {
    SplittableRandom random = new SplittableRandom(5);
    Set<Sleeper> woken = new HashSet<>();
    List<Watch> live = new ArrayList<>();
    Watches watches = new Watches();
    for (int i = 0; i < SLEEPERS; i++) {
      int bytes = 1 << random.nextInt(4);
      long address = random.nextLong(ROOM) & -bytes;
      Sleeper sleeper = new Sleeping(woken);
      watches.add(address, bytes, sleeper);
      live.add(new Watch(address, bytes, sleeper));
      if (random.nextInt(5) == 0) {
        Watch gone = live.remove(random.nextInt(live.size()));
        watches.remove(gone.address(), gone.sleeper());
      }
    }
    for (int i = 0; i < 300; i++) {
      long bytes = List.of(1L, 64L, 4096L, 20_000L).get(i % 4);
      long address = random.nextLong(2 * ROOM);
      woken.clear();
      watches.written(address, bytes, 0);
      Set<Sleeper> expected = new HashSet<>();
      for (Watch watch : live) {
        if (watch.address() < address + bytes && address < watch.address() + watch.bytes()) {
          expected.add(watch.sleeper());
        }
      }
      assertThat(woken).as("write %d, %d bytes at %d", i, bytes, address).isEqualTo(expected);
    }
  }

  private static final class Sleeping implements Sleeper {
    private final Set<Sleeper> woken;

    Sleeping(Set<Sleeper> woken) {
      this.woken = woken;
    }

    @Override
    public void wake(long when) {
      woken.add(this);
    }
  }
}
