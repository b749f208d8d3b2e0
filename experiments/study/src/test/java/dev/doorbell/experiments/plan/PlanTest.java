package dev.doorbell.experiments.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.config.condition.PointCondition;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PlanTest {
  @Test
  void points_come_in_the_order_of_the_axes_the_last_fastest() {
    Plan plan = Plan.of(Configs.read(Configs.SMALL));
    assertThat(plan.points())
        .extracting(Point::id)
        .containsExactly(
            "pull_64", "pull_4096", "push.inline_64", "push.memic_64", "push.memic_4096");
    assertThat(plan.points()).extracting(Point::index).containsExactly(0, 1, 2, 3, 4);
    assertThat(plan.excluded()).isEqualTo(1);
  }

  @Test
  void a_point_knows_axes_fixed_settings_and_defaults() {
    Point point = Plan.of(Configs.read(Configs.SMALL, "window=4")).points().get(1);
    assertThat(point.text("path")).isEqualTo("pull");
    assertThat(point.whole("size")).isEqualTo(4096);
    assertThat(point.whole("window")).isEqualTo(4);
    assertThat(point.flag("relaxed")).isFalse();
    assertThat(point.axes()).containsOnlyKeys("path", "size");
  }

  @Test
  void a_part_of_a_plan_keeps_indices_and_seeds() {
    Plan plan = Plan.of(Configs.read(Configs.SMALL));
    Plan part = plan.only(PointCondition.parse("size=4K", "", List.of("size"), new ArrayList<>()));
    assertThat(part.points()).containsExactly(plan.points().get(1), plan.points().get(4));
  }

  @Test
  void a_point_has_the_same_seed_whatever_else_is_run() {
    Plan few = Plan.of(Configs.read(Configs.SMALL, "size=4K"));
    Plan many = Plan.of(Configs.read(Configs.SMALL, "size=pow2(8,1M)"));
    Point one = few.points().getFirst();
    assertThat(many.points())
        .filteredOn(point -> point.id().equals(one.id()))
        .extracting(Point::seed)
        .containsExactly(one.seed());
  }

  @Test
  void points_have_different_seeds_and_another_run_seed_changes_them_all() {
    Plan plan = Plan.of(Configs.read(Configs.SMALL));
    Plan other = Plan.of(Configs.read(Configs.SMALL, "seed=1"));
    List<Long> seeds = new ArrayList<>();
    plan.points().forEach(point -> seeds.add(point.seed()));
    other.points().forEach(point -> seeds.add(point.seed()));
    assertThat(seeds).doesNotHaveDuplicates();
  }

  @Test
  void an_id_is_a_file_name_even_when_a_topology_file_lies_deep(@TempDir Path folder)
      throws IOException {
    Path deep = Files.createDirectories(folder.resolve("a/".repeat(90)));
    String first = Files.writeString(deep.resolve("first.yaml"), "").toString();
    String second = Files.writeString(deep.resolve("second.yaml"), "").toString();
    Plan plan = Plan.of(Configs.read(Configs.SMALL, "placement=[%s, %s]".formatted(first, second)));
    assertThat(plan.points())
        .extracting(Point::id)
        .doesNotHaveDuplicates()
        .allMatch(id -> id.length() < 200 && id.indexOf('/') < 0);
  }
}
