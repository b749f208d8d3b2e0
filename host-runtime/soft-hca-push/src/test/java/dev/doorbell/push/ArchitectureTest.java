package dev.doorbell.push;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.doorbell.contract.ClassCircles;
import org.junit.jupiter.api.Test;

/** The size of circles and packages of the push engine. */
class ArchitectureTest {
  private static final int LARGEST_CIRCLE = 8;
  private static final int LARGEST_PACKAGE = 30;
  private static final JavaClasses ALL =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.doorbell.push");

  @Test
  void circles_and_packages_are_small() {
    ClassCircles.requireAtMost(LARGEST_CIRCLE, ALL);
    ClassCircles.requirePackagesOfAtMost(LARGEST_PACKAGE, ALL);
  }
}
