package dev.doorbell.core.fabric.timed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Threads of one GPU when there are enough ranks for each to run ahead of the others. */
class ManyRanksTest {
  private static final int LOADS = 100;
  private static final int THREADS = 4;
  private static final int FEW = 2;
  private static final int MANY = 40;
  private static final long APART = 500;

  private static TimedFabric fabric(int ranks) {
    TimedFabric fabric = new TimedFabric(RoundConstants.sameSwitch(), 1);
    for (int rank = 0; rank < ranks; rank++) {
      fabric.attachDevice(Locus.nic(rank, 0), budget -> 0).apart(APART);
    }
    return fabric;
  }

  /** What threads do that only load: when each has ended, then how many events that took. */
  private static List<Long> loading(int ranks, int access) {
    TimedFabric fabric = fabric(ranks);
    try (World world = new World(fabric)) {
      Allocation memory = world.allocate(MemoryKind.DEVICE, 64L * LOADS);
      List<World.Script> scripts = new ArrayList<>();
      List<Long> found = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        World.Script script = world.thread(World.GPU);
        for (int load = 0; load < LOADS; load++) {
          long at = memory.address() + 64L * load;
          script.then(port -> port.load64(at, access)).then(port -> port.spend(10));
        }
        scripts.add(script.then(port -> found.add(port.now())));
      }
      assertThat(
              fabric.run(
                  () -> scripts.stream().allMatch(each -> each.ended().getAsBoolean()),
                  World.FOREVER))
          .isEqualTo(RunOutcome.DONE);
      found.add(fabric.events());
      return found;
    }
  }

  @Test
  void weak_loads_take_their_time_and_no_event() {
    List<Long> few = loading(FEW, Access.WEAK);
    List<Long> many = loading(MANY, Access.WEAK);
    assertThat(many.subList(0, THREADS)).isEqualTo(few.subList(0, THREADS));
    assertThat(few.getLast()).isLessThan(LOADS);
    assertThat(many.getLast()).isLessThan(LOADS);
  }

  @Test
  void strong_loads_have_their_turns() {
    int strong = Access.RELAXED | Access.GPU;
    List<Long> few = loading(FEW, strong);
    List<Long> many = loading(MANY, strong);
    assertThat(many.subList(0, THREADS)).isEqualTo(few.subList(0, THREADS));
    assertThat(many.getLast()).isGreaterThan((long) LOADS * (THREADS - 1));
  }

  @Test
  void a_weak_load_behind_an_acquire_finds_what_was_released() {
    TimedFabric fabric = fabric(MANY);
    try (World world = new World(fabric)) {
      Allocation data = world.allocate(MemoryKind.DEVICE, 4096);
      Allocation flag = world.allocate(MemoryKind.DEVICE, 64);
      long[] found = new long[1];
      World.Script reader = world.thread(World.GPU);
      for (int load = 0; load < LOADS; load++) {
        reader.then(port -> port.load64(data.address(), Access.WEAK));
      }
      reader
          .poll(port -> port.load64(flag.address(), Access.ACQUIRE | Access.GPU), 1)
          .then(port -> found[0] = port.load64(data.address(), Access.WEAK));
      world
          .thread(World.GPU)
          .then(port -> port.spend(40_000))
          .then(port -> port.store64(data.address(), 7, Access.WEAK))
          .then(port -> port.store64(flag.address(), 1, Access.RELEASE | Access.GPU));
      assertThat(fabric.run(reader.ended(), World.FOREVER)).isEqualTo(RunOutcome.DONE);
      assertThat(found[0]).isEqualTo(7);
      assertThat(RawMemory.getLong(data.address())).isEqualTo(7);
    }
  }
}
