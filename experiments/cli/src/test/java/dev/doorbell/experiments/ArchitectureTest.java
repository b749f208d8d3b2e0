package dev.doorbell.experiments;

import static com.tngtech.archunit.base.DescribedPredicate.alwaysTrue;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.doorbell.contract.ClassCircles;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The arrows of docs/architecture.md, over the classes of all modules. */
class ArchitectureTest {
  private static final JavaClasses ALL =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          // Test jars of other modules.
          .withImportOption(location -> !location.contains("-tests.jar"))
          // Tests that every back end passes: a module of its own, but no part of the program.
          .withImportOption(location -> !location.contains("/dev/doorbell/contract/"))
          .importPackages("dev.doorbell");

  private static final String[] BACK_ENDS = {
    "dev.doorbell.cuda..",
    "dev.doorbell.ptxvm..",
    "dev.doorbell.ptxjit..",
    "dev.doorbell.softhca..",
    "dev.doorbell.push..",
    "dev.doorbell.verbs..",
    "dev.doorbell.proxy.."
  };

  @Test
  void every_room_is_looked_at() {
    Set<String> rooms =
        ALL.stream()
            .map(JavaClass::getPackageName)
            .map(name -> name.split("\\.", -1)[2])
            .collect(Collectors.toSet());
    assertThat(rooms)
        .containsExactlyInAnyOrder(
            "core",
            "cuda",
            "ptxvm",
            "ptxjit",
            "softhca",
            "push",
            "interop",
            "verbs",
            "kernels",
            "proxy",
            "experiments",
            "doctor");
  }

  @ParameterizedTest
  @ValueSource(strings = {"cuda", "ptxvm", "softhca", "verbs", "kernels", "proxy"})
  void a_back_end_uses_core_and_nothing_else_of_doorbell(String room) {
    noClasses()
        .that()
        .resideInAPackage("dev.doorbell." + room + "..")
        .should()
        .dependOnClassesThat(
            resideInAPackage("dev.doorbell..")
                .and(
                    JavaClass.Predicates.resideOutsideOfPackages(
                        "dev.doorbell." + room + "..", "dev.doorbell.core..")))
        .check(ALL);
  }

  @Test
  void the_push_engine_uses_core_and_the_software_hca() {
    assertUsesOnly("push", "dev.doorbell.core..", "dev.doorbell.softhca..");
  }

  @Test
  void interop_uses_core_and_the_software_hca() {
    assertUsesOnly("interop", "dev.doorbell.core..", "dev.doorbell.softhca..");
  }

  private static void assertUsesOnly(String room, String... others) {
    String own = "dev.doorbell." + room + "..";
    noClasses()
        .that()
        .resideInAPackage(own)
        .should()
        .dependOnClassesThat(
            resideInAPackage("dev.doorbell..")
                .and(
                    JavaClass.Predicates.resideOutsideOfPackages(
                        Stream.concat(Stream.of(own), Stream.of(others)).toArray(String[]::new))))
        .check(ALL);
  }

  @Test
  void core_uses_nothing_of_doorbell() {
    noClasses()
        .that()
        .resideInAPackage("dev.doorbell.core..")
        .should()
        .dependOnClassesThat(
            resideInAPackage("dev.doorbell..")
                .and(JavaClass.Predicates.resideOutsideOfPackage("dev.doorbell.core..")))
        .check(ALL);
  }

  @Test
  void a_gpu_does_not_know_that_there_is_an_hca() {
    noClasses()
        .that()
        .resideInAnyPackage("dev.doorbell.cuda..", "dev.doorbell.ptxvm..", "dev.doorbell.ptxjit..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "dev.doorbell.core.hca..",
            "dev.doorbell.core.mlx5..",
            "dev.doorbell.core.push..",
            "dev.doorbell.core.queue..")
        .check(ALL);
  }

  @Test
  void an_hca_does_not_know_who_rings() {
    noClasses()
        .that()
        .resideInAnyPackage("dev.doorbell.softhca..", "dev.doorbell.verbs..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("dev.doorbell.core.gpu..", "dev.doorbell.core.queue..")
        .check(ALL);
  }

  @Test
  void what_jextract_wrote_is_seen_by_the_verbs_module_alone() {
    noClasses()
        .that()
        .resideOutsideOfPackage("dev.doorbell.verbs..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("dev.doorbell.verbs.generated..")
        .check(ALL);
  }

  private static final String[] JOINERS = {
    "dev.doorbell.experiments.scenario..", "dev.doorbell.experiments.workbench.."
  };

  @Test
  void scenarios_workbenches_and_hosts_alone_join_the_back_ends() {
    noClasses()
        .that()
        .resideInAPackage("dev.doorbell.experiments..")
        .and()
        .resideOutsideOfPackages(JOINERS)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(BACK_ENDS)
        .check(ALL);
  }

  @Test
  void scenarios_are_found_as_services() {
    classes()
        .that()
        .resideInAPackage("dev.doorbell.experiments.scenario..")
        .should()
        .onlyBeAccessed()
        .byClassesThat()
        .resideInAnyPackage(JOINERS)
        .check(ALL);
  }

  @Test
  void packets_know_neither_the_transport_nor_the_wires() {
    noClasses()
        .that()
        .resideInAPackage("dev.doorbell.softhca.packet")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "dev.doorbell.softhca",
            "dev.doorbell.softhca.queuepair",
            "dev.doorbell.softhca.foreign",
            "dev.doorbell.softhca.wire")
        .check(ALL);
  }

  @Test
  void wires_carry_packets_without_knowing_queue_pairs() {
    noClasses()
        .that()
        .resideInAPackage("dev.doorbell.softhca.wire")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "dev.doorbell.softhca",
            "dev.doorbell.softhca.queuepair",
            "dev.doorbell.softhca.foreign",
            "dev.doorbell.core.mlx5..")
        .check(ALL);
  }

  @Test
  void captures_are_written_where_packets_become_bytes() {
    noClasses()
        .that()
        .resideInAnyPackage(BACK_ENDS)
        .and()
        .resideOutsideOfPackage("dev.doorbell.softhca.wire")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("dev.doorbell.core.pcap..")
        .check(ALL);
  }

  @Test
  void nothing_before_the_engine_knows_it() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "dev.doorbell.ptxvm.ir..",
            "dev.doorbell.ptxvm.parser..",
            "dev.doorbell.ptxvm.memory..",
            "dev.doorbell.ptxvm.listing..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("dev.doorbell.ptxvm.engine..", "dev.doorbell.ptxvm.launch..")
        .check(ALL);
  }

  @Test
  void the_engine_runs_what_is_decoded_and_reads_no_text() {
    noClasses()
        .that()
        .resideInAPackage("dev.doorbell.ptxvm.engine..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("dev.doorbell.ptxvm.parser..", "dev.doorbell.ptxvm.listing..")
        .check(ALL);
  }

  @ParameterizedTest
  @CsvSource({
    "ptxvm.parser, ptxvm.engine|ptxvm.launch|ptxjit",
    "ptxvm.engine.machine,"
        + " ptxvm.engine.decode|ptxvm.engine.ops|ptxvm.engine.link|ptxvm.launch|ptxjit",
    "ptxvm.engine.decode, ptxvm.engine.ops|ptxvm.engine.link|ptxvm.launch|ptxjit",
    "ptxvm.engine.ops, ptxvm.engine.link|ptxvm.launch|ptxjit",
    "ptxvm.engine.link, ptxvm.launch|ptxjit",
    "ptxvm, ptxjit",
    "ptxjit, ptxvm.engine.link|ptxvm.launch|ptxvm.parser|ptxvm.listing",
    "ptxjit.emit, ptxjit.warp",
    "verbs.library, verbs.device|verbs.devx",
    "verbs.device, verbs.devx"
  })
  void inner_rooms_depend_downward(String room, String above) {
    String[] forbidden =
        Stream.of(above.split("\\|", -1))
            .map(name -> "dev.doorbell." + name + "..")
            .toArray(String[]::new);
    noClasses()
        .that()
        .resideInAPackage("dev.doorbell." + room + "..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(forbidden)
        .check(ALL);
  }

  @Test
  void flow_analysis_uses_no_instruction() {
    classes()
        .that()
        .resideInAPackage("dev.doorbell.ptxjit.flow..")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "dev.doorbell.ptxjit.flow..", "java.lang", "java.util..", "org.jspecify.annotations")
        .check(ALL);
  }

  @Test
  void only_the_compiler_writes_bytecode() {
    noClasses()
        .that()
        .resideOutsideOfPackage("dev.doorbell.ptxjit..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("java.lang.classfile..")
        .check(ALL);
  }

  @Test
  void worlds_know_no_points() {
    noClasses()
        .that()
        .resideInAPackage("dev.doorbell.experiments.scenario.world")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("dev.doorbell.experiments.plan..")
        .check(ALL);
  }

  @ParameterizedTest
  @ValueSource(strings = {"transfer", "posting", "push", "nic"})
  void kinds_of_points_do_not_know_each_other(String kind) {
    String sessions = "dev.doorbell.experiments.scenario.";
    noClasses()
        .that()
        .resideInAnyPackage(
            Stream.of("transfer", "posting", "push", "nic")
                .filter(other -> !other.equals(kind))
                .map(sessions::concat)
                .toArray(String[]::new))
        .should()
        .dependOnClassesThat()
        .resideInAPackage(sessions + kind)
        .check(ALL);
  }

  @Test
  void the_workbench_runs_kernels_without_an_hca() {
    noClasses()
        .that()
        .resideInAPackage("dev.doorbell.experiments.workbench.kernel..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "dev.doorbell.softhca..",
            "dev.doorbell.proxy..",
            "dev.doorbell.core.hca..",
            "dev.doorbell.core.mlx5..",
            "dev.doorbell.experiments.scenario",
            "dev.doorbell.experiments.scenario.world",
            "dev.doorbell.experiments.scenario.transfer")
        .check(ALL);
  }

  /** In the order of the shim's inner rooms; each may use those before it. */
  @ParameterizedTest
  @CsvSource({"abi, 0", "client, 1", "gpu, 2", "object, 3", "command, 4"})
  void the_shims_rooms_use_those_below_them_alone(String room, int level) {
    String shim = "dev.doorbell.interop.shim";
    noClasses()
        .that()
        .resideInAPackage(shim + "." + room)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            Stream.concat(
                    Stream.of(shim),
                    Stream.of("abi", "client", "gpu", "object", "command")
                        .skip(level + 1L)
                        .map((shim + ".")::concat))
                .toArray(String[]::new))
        .check(ALL);
  }

  @Test
  void the_push_engine_and_the_network_stand_beside_the_transport() {
    noClasses()
        .that()
        .resideInAnyPackage("dev.doorbell.push", "dev.doorbell.push.network")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "dev.doorbell.softhca..", "dev.doorbell.push.wire", "dev.doorbell.core.mlx5..")
        .check(ALL);
  }

  @Test
  void the_doctor_uses_problems_and_the_table_of_errors_of_core_alone() {
    noClasses()
        .that()
        .resideInAPackage("dev.doorbell.doctor..")
        .should()
        .dependOnClassesThat(
            resideInAPackage("dev.doorbell..")
                .and(
                    JavaClass.Predicates.resideOutsideOfPackages(
                        "dev.doorbell.doctor..",
                        "dev.doorbell.core",
                        "dev.doorbell.core.problem",
                        "dev.doorbell.core.mlx5.generated")))
        .check(ALL);
  }

  @Test
  void rooms_of_configs_do_not_use_the_reader_of_experiments() {
    noClasses()
        .that()
        .resideInAPackage("dev.doorbell.experiments.config.*")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("dev.doorbell.experiments.config")
        .check(ALL);
  }

  @Test
  void documents_and_values_use_no_schema() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "dev.doorbell.experiments.config.document", "dev.doorbell.experiments.config.value")
        .should()
        .dependOnClassesThat(
            resideInAPackage("dev.doorbell.experiments..")
                .and(
                    JavaClass.Predicates.resideOutsideOfPackages(
                        "dev.doorbell.experiments.config.document",
                        "dev.doorbell.experiments.config.value")))
        .check(ALL);
  }

  @Test
  void the_doctor_s_facts_and_catalogue_use_no_checks() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "dev.doorbell.doctor.facts",
            "dev.doorbell.doctor.catalogue",
            "dev.doorbell.doctor.topology")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "dev.doorbell.doctor",
            "dev.doorbell.doctor.check",
            "dev.doorbell.doctor.report",
            "dev.doorbell.doctor.log")
        .check(ALL);
  }

  @Test
  void runs_and_plans_are_kept_without_the_doctor() {
    noClasses()
        .that()
        .resideInAnyPackage("..experiments.run..", "..experiments.plan..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("dev.doorbell.doctor..")
        .check(ALL);
  }

  @Test
  void the_command_line_drives_no_hardware() {
    noClasses()
        .that()
        .resideInAPackage("dev.doorbell.experiments.cli..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "dev.doorbell.core.gpu..",
            "dev.doorbell.core.hca..",
            "dev.doorbell.core.queue..",
            "dev.doorbell.core.memory..",
            "dev.doorbell.core.fabric",
            "dev.doorbell.core.fabric.timed")
        .check(ALL);
  }

  @Test
  void what_commands_are_made_of_knows_no_command() {
    noClasses()
        .that()
        .resideInAPackage("dev.doorbell.experiments.cli.command")
        .should()
        .dependOnClassesThat(
            resideInAPackage("dev.doorbell.experiments.cli..")
                .and(
                    JavaClass.Predicates.resideOutsideOfPackage(
                        "dev.doorbell.experiments.cli.command")))
        .check(ALL);
  }

  @Test
  void what_plans_and_evaluates_does_not_know_the_hardware() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "..experiments.config..",
            "..experiments.plan..",
            "..experiments.stats..",
            "..experiments.results.figures..",
            "..experiments.kernels..",
            "..experiments.run..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "dev.doorbell.core.gpu..",
            "dev.doorbell.core.hca..",
            "dev.doorbell.core.mlx5..",
            "dev.doorbell.core.queue..",
            "dev.doorbell.core.memory..",
            "dev.doorbell.core.fabric..")
        .check(ALL);
  }

  @Test
  void statistics_are_pure() {
    noClasses()
        .that()
        .resideInAPackage("..experiments.stats..")
        .should()
        .dependOnClassesThat(
            resideInAPackage("dev.doorbell..")
                .and(JavaClass.Predicates.resideOutsideOfPackage("..experiments.stats..")))
        .check(ALL);
  }

  @Test
  void figures_are_drawn_without_a_clock_or_chance() {
    noClasses()
        .that()
        .resideInAnyPackage("..experiments.results.figures..", "..experiments.stats..")
        .should()
        .callMethod(System.class, "nanoTime")
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(java.util.concurrent.ThreadLocalRandom.class)
        .check(ALL);
  }

  @Test
  void raw_addresses_are_dereferenced_by_core_and_back_ends_alone() {
    noClasses()
        .that()
        .resideOutsideOfPackages(
            "dev.doorbell.core..",
            "dev.doorbell.cuda..",
            "dev.doorbell.ptxvm.engine..",
            "dev.doorbell.ptxvm.memory..",
            "dev.doorbell.ptxjit.emit..",
            "dev.doorbell.softhca..",
            "dev.doorbell.push..",
            "dev.doorbell.interop..",
            "dev.doorbell.verbs..",
            "dev.doorbell.proxy..")
        .should()
        .dependOnClassesThat()
        .areAssignableTo("dev.doorbell.core.memory.RawMemory")
        .check(ALL);
  }

  @ParameterizedTest
  @ValueSource(strings = {"core", "ptxvm", "ptxjit", "softhca", "interop", "verbs", "experiments"})
  void packages_of_a_room_do_not_depend_on_each_other_in_circles(String room) {
    slices().matching("dev.doorbell." + room + ".(*)..").should().beFreeOfCycles().check(ALL);
  }

  @Test
  void no_two_packages_depend_on_each_other_in_circles() {
    // What a table makes is a part of the package that it is made for.
    slices()
        .matching("dev.doorbell.(**)")
        .should()
        .beFreeOfCycles()
        .ignoreDependency(resideInAPackage("..generated"), alwaysTrue())
        .check(ALL);
  }

  @Test
  void rooms_do_not_depend_on_each_other_in_circles() {
    slices().matching("dev.doorbell.(*)..").should().beFreeOfCycles().check(ALL);
  }

  @Test
  void no_more_than_eight_classes_of_a_package_form_a_circle() {
    ClassCircles.requireAtMost(8, ALL);
  }

  @Test
  void a_package_has_no_more_than_thirty_classes() {
    ClassCircles.requirePackagesOfAtMost(30, ALL);
  }
}
