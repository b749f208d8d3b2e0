package dev.doorbell.experiments.results.figures;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/**
 * What keeps statistics and figures pure functions: they cannot reach what is not handed to them.
 */
class FigureWallsTest {

  private static final String HERE = "dev.doorbell.experiments.";

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages(HERE + "stats", HERE + "figures");

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
  void statistics_know_samples_and_nothing_else_of_the_project() {
    noneIn("stats..", HERE + "cli..", HERE + "config..", HERE + "figures..", HERE + "run..");
    noneIn("stats..", HERE + "plan..", "dev.doorbell.core..");
  }

  @Test
  void drawings_know_neither_charts_nor_runs() {
    noneIn("figures.drawing..", HERE + "figures", HERE + "stats..", HERE + "run..");
    noneIn("figures.drawing..", HERE + "cli..", HERE + "config..", HERE + "plan..");
  }

  @Test
  void figures_know_a_run_and_not_how_it_was_made() {
    noneIn("figures..", HERE + "cli..", HERE + "session..", HERE + "topology..");
  }

  @Test
  void nothing_here_asks_for_the_time_or_for_chance() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .haveFullyQualifiedName("java.util.Random")
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
