package dev.doorbell.core.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SchedulerTest {
  private static final long NEVER = Long.MAX_VALUE;

  private final List<String> log = new ArrayList<>();

  /** Writes its name and budget down, and does what it is told. */
  private final class Recorder implements Agent {
    private final String name;
    private Runnable action = () -> {};

    Recorder(String name) {
      this.name = name;
    }

    @Override
    public int step(int budget) {
      log.add(name + ":" + budget);
      action.run();
      return 1;
    }

    @Override
    public String where() {
      return name;
    }
  }

  private List<String> interleaving(long seed, int agents, int sweeps) {
    log.clear();
    Scheduler scheduler = new Scheduler(seed);
    for (int i = 0; i < agents; i++) {
      scheduler.add(new Recorder("a" + i));
    }
    for (int i = 0; i < sweeps; i++) {
      scheduler.sweep();
    }
    return List.copyOf(log);
  }

  @Test
  void seed_zero_is_round_robin_with_full_budgets() {
    assertThat(interleaving(0, 3, 2))
        .containsExactly("a0:512", "a1:512", "a2:512", "a0:512", "a1:512", "a2:512");
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 7})
  void many_agents_leave_at_once_between_sweeps_and_in_the_midst_of_one(long seed) {
    Scheduler scheduler = new Scheduler(seed);
    List<Recorder> all = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      all.add(new Recorder("a" + i));
      scheduler.add(all.getLast());
    }
    Recorder device = new Recorder("device");
    scheduler.addDevice(device);
    scheduler.removeAll(List.of(all.get(1), all.get(5), device, new Recorder("nobody")));
    assertThat(scheduler.size()).isEqualTo(4);
    List<Recorder> leaving = List.of(all.get(2), all.get(3));
    leaving.forEach(each -> each.action = () -> scheduler.removeAll(leaving));
    scheduler.sweep();
    assertThat(scheduler.size()).isEqualTo(2);
    log.clear();
    scheduler.sweep();
    assertThat(log.stream().map(step -> step.substring(0, 2)))
        .containsExactlyInAnyOrder("a0", "a4");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, -1, 0x5eed})
  void the_same_seed_gives_the_same_interleaving(long seed) {
    assertThat(interleaving(seed, 20, 20)).isEqualTo(interleaving(seed, 20, 20));
    assertThat(interleaving(seed, 20, 20)).isNotEqualTo(interleaving(seed + 1, 20, 20));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 3, 99})
  void every_agent_is_stepped_once_a_sweep_with_a_budget(long seed) {
    List<String> steps = interleaving(seed, 50, 40);
    for (int sweep = 0; sweep < 40; sweep++) {
      Set<String> names = new HashSet<>();
      for (String step : steps.subList(sweep * 50, (sweep + 1) * 50)) {
        names.add(step.substring(0, step.indexOf(':')));
        int budget = Integer.parseInt(step.substring(step.indexOf(':') + 1));
        assertThat(budget).isBetween(1, Scheduler.BUDGET);
      }
      assertThat(names).as("seed %d sweep %d", seed, sweep).hasSize(50);
    }
  }

  @Test
  void orders_of_a_seeded_scheduler_differ_from_sweep_to_sweep() {
    Set<List<String>> orders = new HashSet<>();
    List<String> steps = interleaving(5, 8, 100);
    for (int sweep = 0; sweep < 100; sweep++) {
      orders.add(
          steps.subList(sweep * 8, sweep * 8 + 8).stream()
              .map(step -> step.substring(0, step.indexOf(':')))
              .toList());
    }
    assertThat(orders).hasSizeGreaterThan(95);
  }

  @Test
  void an_agent_that_removes_itself_and_two_before_it_makes_nobody_miss_a_turn() {
    Scheduler scheduler = new Scheduler(0);
    List<Recorder> agents = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      Recorder agent = new Recorder("a" + i);
      agents.add(agent);
      scheduler.add(agent);
    }
    agents.get(3).action =
        () -> {
          scheduler.remove(agents.get(0));
          scheduler.remove(agents.get(1));
          scheduler.remove(agents.get(3));
        };
    scheduler.sweep();
    scheduler.sweep();
    assertThat(log)
        .containsExactly(
            "a0:512", "a1:512", "a2:512", "a3:512", "a4:512", "a5:512", "a2:512", "a4:512",
            "a5:512");
    assertThat(scheduler.size()).isEqualTo(3);
  }

  @Test
  void an_agent_removed_by_an_earlier_one_is_not_stepped_any_more() {
    Scheduler scheduler = new Scheduler(0);
    Recorder first = new Recorder("first");
    Recorder second = new Recorder("second");
    scheduler.add(first);
    scheduler.add(second);
    first.action = () -> scheduler.remove(second);
    scheduler.sweep();
    assertThat(log).containsExactly("first:512");
    assertThat(scheduler.size()).isOne();
  }

  @Test
  void an_agent_added_while_another_is_stepped_waits_for_the_next_sweep() {
    Scheduler scheduler = new Scheduler(0);
    Recorder parent = new Recorder("parent");
    parent.action =
        () -> {
          for (int i = scheduler.size(); i < 40; i++) {
            scheduler.add(new Recorder("child"));
          }
        };
    scheduler.add(parent);
    assertThat(scheduler.sweep()).isEqualTo(1);
    assertThat(scheduler.sweep()).isEqualTo(40);
  }

  @Test
  void removing_an_agent_that_is_not_there_does_nothing() {
    Scheduler scheduler = new Scheduler(0);
    Recorder agent = new Recorder("a");
    scheduler.add(agent);
    scheduler.remove(new Recorder("a"));
    assertThat(scheduler.size()).isEqualTo(1);
    scheduler.remove(agent);
    scheduler.remove(agent);
    assertThat(scheduler.size()).isZero();
    assertThat(scheduler.sweep()).isZero();
  }

  /** Agents that come and go at random, against a list that is walked by a copy. */
  @ParameterizedTest
  @ValueSource(longs = {0, 17})
  void agents_that_come_and_go_are_stepped_as_a_model_says(long schedulerSeed) {
    long seed = 4711;
    SplittableRandom random = new SplittableRandom(seed);
    Scheduler scheduler = new Scheduler(schedulerSeed);
    List<Recorder> present = new ArrayList<>();
    List<Recorder> mayStep = new ArrayList<>();
    int[] made = {0};
    Runnable change =
        () -> {
          int what = random.nextInt(8);
          if (what == 0 || present.isEmpty()) {
            Recorder agent = new Recorder("a" + made[0]++);
            scheduler.add(agent);
            present.add(agent);
          } else if (what <= 2) {
            Recorder agent = present.remove(random.nextInt(present.size()));
            scheduler.remove(agent);
            mayStep.remove(agent);
          }
        };
    for (int i = 0; i < 30; i++) {
      Recorder agent = new Recorder("a" + made[0]++);
      scheduler.add(agent);
      present.add(agent);
    }
    for (int sweep = 0; sweep < 300; sweep++) {
      mayStep.clear();
      mayStep.addAll(present);
      for (Recorder agent : present) {
        agent.action =
            () -> {
              assertThat(mayStep.remove(agent)).as("seed %d agent %s", seed, agent.name).isTrue();
              change.run();
              change.run();
            };
      }
      scheduler.sweep();
      assertThat(mayStep).as("seed %d: not stepped in sweep %d", seed, sweep).isEmpty();
      assertThat(scheduler.size()).isEqualTo(present.size());
      change.run();
    }
  }

  @Test
  void an_agent_that_throws_leaves_the_scheduler_usable() {
    Scheduler scheduler = new Scheduler(0);
    Recorder healthy = new Recorder("healthy");
    Recorder broken = new Recorder("broken");
    scheduler.add(healthy);
    scheduler.add(broken);
    broken.action =
        () -> {
          scheduler.remove(healthy);
          throw new IllegalStateException("fault");
        };
    assertThatThrownBy(scheduler::sweep).hasMessage("fault");
    assertThat(scheduler.size()).isOne();
    broken.action = () -> {};
    assertThat(scheduler.sweep()).isEqualTo(1);
  }

  @Test
  void running_ends_when_the_condition_holds() {
    Scheduler scheduler = new Scheduler(0);
    scheduler.add(new Recorder("a"));
    assertThat(scheduler.run(() -> log.size() == 5, System.nanoTime() + NEVER)).isTrue();
    assertThat(log).hasSize(5);
  }

  @Test
  void running_ends_at_the_deadline_whether_agents_work_or_idle() {
    Scheduler idle = new Scheduler(0);
    assertThat(idle.run(() -> false, System.nanoTime())).isFalse();
    Scheduler busy = new Scheduler(0);
    busy.add(budget -> budget);
    assertThat(busy.run(() -> false, System.nanoTime())).isFalse();
  }

  @Test
  void a_condition_that_holds_at_the_deadline_counts_as_done() {
    Scheduler scheduler = new Scheduler(0);
    int[] asked = {0};
    assertThat(scheduler.run(() -> ++asked[0] == 2, System.nanoTime())).isTrue();
  }
}
