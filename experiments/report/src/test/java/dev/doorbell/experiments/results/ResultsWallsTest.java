package dev.doorbell.experiments.results;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The arrows among statistics, drawings, figures and what is made of them, and what keeps these
 * pure functions: they cannot reach what is not passed to them.
 */
class ResultsWallsTest {

  private static final String HERE = "dev.doorbell.experiments.";

  /** A room uses those before it and none after it. */
  private static final List<String> ORDER =
      List.of(
          "stats",
          "results.print",
          "results.figures.drawing",
          "results.figures.layout",
          "results.figures.chart",
          "results.tables",
          "results.figures",
          "results.paper");

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          // Test jars of other modules.
          .withImportOption(location -> !location.contains("-tests.jar"))
          .importPackages(HERE + "stats", HERE + "results");

  private static void noneIn(String packages, String... others) {
    noClasses()
        .that()
        .resideInAPackage(HERE + packages)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(others)
        .check(CLASSES);
  }

  @Test
  void a_room_uses_none_that_comes_after_it() {
    for (int i = 0; i < ORDER.size() - 1; i++) {
      noneIn(
          ORDER.get(i),
          ORDER.subList(i + 1, ORDER.size()).stream().map(HERE::concat).toArray(String[]::new));
    }
  }

  @Test
  void no_room_has_more_than_thirty_classes() {
    Map<String, Long> sizes =
        CLASSES.stream()
            .filter(each -> each.isTopLevelClass() && !each.getSimpleName().equals("package-info"))
            .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()));
    assertThat(sizes.values()).allMatch(size -> size <= 30);
  }

  @Test
  void statistics_use_samples_and_nothing_else_of_the_project() {
    noneIn("stats..", HERE + "cli..", HERE + "config..", HERE + "results..", HERE + "run..");
    noneIn("stats..", HERE + "plan..", "dev.doorbell.core..");
  }

  @Test
  void drawings_and_layouts_use_neither_charts_nor_runs() {
    for (String room : List.of("drawing", "layout")) {
      noneIn("results.figures." + room, HERE + "stats..", HERE + "run..", HERE + "plan..");
      noneIn("results.figures." + room, HERE + "cli..");
      noneOfTheConfigIn("results.figures." + room);
    }
  }

  /** Of a config, figures know how they are to look and nothing else. */
  private static void noneOfTheConfigIn(String packages) {
    noClasses()
        .that()
        .resideInAPackage(HERE + packages)
        .should()
        .dependOnClassesThat(
            resideInAPackage(HERE + "config..").and(not(resideInAPackage(HERE + "config.figure"))))
        .check(CLASSES);
  }

  @Test
  void charts_read_no_run() {
    noneIn("results.figures.chart", HERE + "run..", HERE + "cli..");
    noneOfTheConfigIn("results.figures.chart");
  }

  @Test
  void figures_read_a_run_and_not_how_it_was_made() {
    noneIn("results.figures..", HERE + "cli..", HERE + "scenario..", HERE + "topology..");
  }

  @Test
  void comparisons_use_no_figure() {
    noneIn("results.compare", HERE + "results.figures..", HERE + "results.paper");
  }

  @Test
  void nothing_here_asks_for_the_time_or_for_chance() {
    noClasses()
        .that()
        .resideInAnyPackage(HERE + "stats..", HERE + "results.figures..", HERE + "results.tables")
        .should()
        .dependOnClassesThat()
        .haveFullyQualifiedName("java.util.Random")
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(java.util.concurrent.ThreadLocalRandom.class)
        .orShould()
        .dependOnClassesThat()
        .resideInAPackage("java.time..")
        .orShould()
        .callMethod(System.class, "nanoTime")
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(Math.class, "random")
        .check(CLASSES);
  }
}
