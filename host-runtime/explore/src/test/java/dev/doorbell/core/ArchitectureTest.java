package dev.doorbell.core;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleNameEndingWith;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The walls inside of core. */
class ArchitectureTest {
  private static final JavaClasses CORE =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.doorbell.core");

  @Test
  void core_depends_on_the_jdk_alone() {
    classes()
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("dev.doorbell.core..", "java..", "org.jspecify.annotations")
        .check(CORE);
  }

  @Test
  void packages_of_core_do_not_depend_on_each_other_in_circles() {
    slices().matching("dev.doorbell.core.(*)..").should().beFreeOfCycles().check(CORE);
  }

  @Test
  void memory_depends_on_nothing_else_of_core() {
    noClasses()
        .that()
        .resideInAPackage("..core.memory..")
        .should()
        .dependOnClassesThat(
            resideInAnyPackage("dev.doorbell..").and(resideOutsideOfPackage("..core.memory..")))
        .check(CORE);
  }

  @ParameterizedTest
  @ValueSource(strings = {"mlx5", "mlx5.prm", "push", "roce", "pcap"})
  void a_format_depends_on_memory_and_printing_and_no_other_format(String format) {
    String own = "dev.doorbell.core." + format;
    classes()
        .that()
        .resideInAnyPackage(own, own + ".generated")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            own,
            own + ".generated",
            "dev.doorbell.core.memory",
            "dev.doorbell.core.print",
            "java..",
            "org.jspecify.annotations")
        .check(CORE);
  }

  @Test
  void fault_plans_do_not_depend_on_what_they_strike() {
    noClasses()
        .that()
        .resideInAPackage("..core.fault..")
        .should()
        .dependOnClassesThat(
            resideInAnyPackage("dev.doorbell..").and(resideOutsideOfPackage("..core.fault..")))
        .check(CORE);
  }

  @ParameterizedTest
  @ValueSource(strings = {"timed", "explore"})
  void one_fabric_does_not_depend_on_another(String fabric) {
    String own = "dev.doorbell.core.fabric." + fabric + "..";
    noClasses()
        .that()
        .resideOutsideOfPackage(own)
        .should()
        .dependOnClassesThat()
        .resideInAPackage(own)
        .check(CORE);
  }

  @ParameterizedTest
  @CsvSource({
    "machine, ",
    "event, ",
    "link, machine event",
    "interconnect, machine event link",
    "processor, machine event link interconnect",
    "thread, machine event link interconnect processor",
    "device, machine event link interconnect"
  })
  void a_room_of_the_timed_fabric_uses_those_before_it(String room, @Nullable String before) {
    String timed = "dev.doorbell.core.fabric.timed";
    String[] allowed =
        Stream.concat(
                Stream.of(room), before == null ? Stream.of() : Stream.of(before.split(" ", -1)))
            .map(name -> timed + "." + name)
            .toArray(String[]::new);
    noClasses()
        .that()
        .resideInAPackage(timed + "." + room)
        .should()
        .dependOnClassesThat(
            resideInAPackage(timed + "..")
                .and(JavaClass.Predicates.resideOutsideOfPackages(allowed)))
        .check(CORE);
  }

  @Test
  void the_memory_model_depends_on_nothing_that_it_is_explored_with() {
    noClasses()
        .that()
        .resideInAPackage("..core.fabric.explore.model")
        .should()
        .dependOnClassesThat(
            resideInAPackage("..core.fabric.explore..")
                .and(resideOutsideOfPackage("..core.fabric.explore.model")))
        .check(CORE);
  }

  @Test
  void a_fabric_depends_on_neither_gpus_nor_hcas() {
    noClasses()
        .that()
        .resideInAPackage("..core.fabric..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "..core.gpu..", "..core.hca..", "..core.queue..", "..core.roce..", "..core.pcap..")
        .check(CORE);
  }

  @Test
  void what_kernels_see_does_not_depend_on_the_hardware() {
    noClasses()
        .that()
        .resideInAPackage("..core.queue..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "..core.fabric..", "..core.gpu..", "..core.hca..", "..core.mlx5..", "..core.push..")
        .check(CORE);
  }

  @Test
  void the_contract_of_a_gpu_does_not_depend_on_an_hca() {
    noClasses()
        .that()
        .resideInAPackage("..core.gpu..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("..core.hca..", "..core.fabric..")
        .check(CORE);
  }

  @Test
  void raw_addresses_are_touched_by_ports_and_formats_alone() {
    noClasses()
        .that()
        .resideOutsideOfPackages(
            "..core.memory..",
            "..core.fabric..",
            "..core.mlx5..",
            "..core.efa..",
            "..core.push..",
            "..core.roce..",
            "..core.pcap..")
        .should()
        .dependOnClassesThat()
        .areAssignableTo(RawMemory.class)
        .check(CORE);
  }

  @Test
  void only_core_memory_calls_native_functions() {
    noClasses()
        .that()
        .resideOutsideOfPackage("..core.memory..")
        .should()
        .dependOnClassesThat()
        .areAssignableTo(Linker.class)
        .check(CORE);
  }

  @Test
  void only_raw_memory_makes_segments_of_addresses() {
    noClasses()
        .that()
        .areNotAssignableTo(RawMemory.class)
        .should()
        .callMethodWhere(
            target(MemorySegment.class, Set.of("reinterpret", "ofAddress"), "makes segments"))
        .check(CORE);
  }

  @Test
  void byte_order_is_reversed_in_one_place() {
    noClasses()
        .that()
        .areNotAssignableTo(BigEndian.class)
        .should()
        .callMethodWhere(target(Number.class, Set.of("reverseBytes"), "reverses bytes"))
        .check(CORE);
  }

  @Test
  void descriptors_of_formats_allocate_nothing() {
    noClasses()
        .that()
        .resideInAPackage("..core.mlx5")
        .and(DescribedPredicate.not(simpleNameEndingWith("Printer")))
        .and()
        .arePublic()
        .and()
        .areNotEnums()
        .should()
        .callConstructorWhere(
            new DescribedPredicate<JavaCall<?>>("makes an object") {
              @Override
              public boolean test(JavaCall<?> call) {
                return !call.getTargetOwner().isEquivalentTo(Object.class)
                    && !call.getTargetOwner().getPackageName().endsWith(".generated");
              }
            })
        .check(CORE);
  }

  @Test
  void formats_have_no_state() {
    noFields()
        .that()
        .areDeclaredInClassesThat()
        .resideInAPackage("..core.mlx5")
        .and()
        .areDeclaredInClassesThat()
        .arePublic()
        .and()
        .areDeclaredInClassesThat()
        .areNotEnums()
        .should()
        .notBeFinal()
        .orShould()
        .notBeStatic()
        .check(CORE);
  }

  @Test
  void nothing_prints() {
    noClasses()
        .should()
        .accessField(System.class, "out")
        .orShould()
        .accessField(System.class, "err")
        .because("core reports by values and exceptions")
        .check(CORE);
  }

  private static DescribedPredicate<JavaAccess<?>> target(
      Class<?> owner, Set<String> names, String description) {
    return new DescribedPredicate<>(description) {
      @Override
      public boolean test(JavaAccess<?> call) {
        return call.getTargetOwner().isAssignableTo(owner)
            && names.contains(call.getTarget().getName());
      }
    };
  }
}
