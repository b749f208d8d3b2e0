package dev.doorbell.softhca;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.doorbell.contract.ClassCircles;
import dev.doorbell.softhca.wire.WireCapture;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.Date;
import org.junit.jupiter.api.Test;

/** The rooms of the software HCA and the arrows between them. */
class ArchitectureTest {
  private static final int LARGEST_CIRCLE = 8;
  private static final int LARGEST_PACKAGE = 30;
  private static final JavaClasses ALL =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.doorbell.softhca");

  @Test
  void arrows_between_rooms_only_go_down() {
    layeredArchitecture()
        .consideringOnlyDependenciesInLayers()
        .layer("hca")
        .definedBy("dev.doorbell.softhca")
        .layer("foreign")
        .definedBy("dev.doorbell.softhca.foreign")
        .layer("queuepair")
        .definedBy("dev.doorbell.softhca.queuepair")
        .layer("requester")
        .definedBy("dev.doorbell.softhca.requester")
        .layer("responder")
        .definedBy("dev.doorbell.softhca.responder")
        .layer("objects")
        .definedBy("dev.doorbell.softhca.objects")
        .layer("device")
        .definedBy("dev.doorbell.softhca.device")
        .layer("wire")
        .definedBy("dev.doorbell.softhca.wire")
        .layer("packet")
        .definedBy("dev.doorbell.softhca.packet")
        .whereLayer("hca")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("foreign")
        .mayOnlyBeAccessedByLayers("hca")
        .whereLayer("queuepair")
        .mayOnlyBeAccessedByLayers("hca", "foreign")
        .whereLayer("requester")
        .mayOnlyBeAccessedByLayers("queuepair", "foreign")
        .whereLayer("responder")
        .mayOnlyBeAccessedByLayers("queuepair")
        .whereLayer("objects")
        .mayOnlyBeAccessedByLayers("hca", "foreign", "queuepair", "requester", "responder")
        .whereLayer("device")
        .mayOnlyBeAccessedByLayers(
            "hca", "foreign", "queuepair", "requester", "responder", "objects")
        .whereLayer("wire")
        .mayOnlyBeAccessedByLayers("hca")
        .check(ALL);
  }

  /** Timeouts and orders are of the fabric's clock: one that is set back changes none of them. */
  @Test
  void only_captures_and_numbers_of_connections_look_at_the_wall_clock() {
    noClasses()
        .that()
        .doNotBelongToAnyOf(WireCapture.class, SoftHca.class)
        .should()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(Instant.class, "now")
        .orShould()
        .dependOnClassesThat()
        .belongToAnyOf(Clock.class, Date.class, LocalDateTime.class)
        .check(ALL);
  }

  @Test
  void circles_and_packages_are_small() {
    ClassCircles.requireAtMost(LARGEST_CIRCLE, ALL);
    ClassCircles.requirePackagesOfAtMost(LARGEST_PACKAGE, ALL);
  }
}
