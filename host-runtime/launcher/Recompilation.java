package dev.doorbell.launcher;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Compiles changed sources and whatever depends on them.
 *
 * <p>A source that did not change has to be compiled again if its classes
 *
 * <ul>
 *   <li>mention a class whose visible part changed, a subtype of one, or a class in whose generic
 *       signatures such a class occurs: what javac infers from those leaves no other trace;
 *   <li>may have a copy of a constant that changed: the source contains the constant's name;
 *   <li>may now mean another class by a name: the source contains the simple name of a class that
 *       came or went.
 * </ul>
 */
final class Recompilation {
  private final Map<Project.Module, ModuleJar> jars;
  private final List<Path> classPath;
  private final Compiler compiler;
  private final Set<Path> sources = new TreeSet<>();
  private List<CompiledClass> everything = List.of();

  /**
   * @param jars the jars to bring up to date
   * @param classPath these and all others
   */
  Recompilation(Map<Project.Module, ModuleJar> jars, List<Path> classPath, Compiler compiler) {
    this.jars = jars;
    this.classPath = classPath;
    this.compiler = compiler;
  }

  /**
   * Changes the content of the jars; their files stay as they are.
   *
   * @param changed files that are new, different or gone
   * @return how many sources were compiled
   * @throws Failure if they do not compile
   */
  int run(Collection<Path> changed) throws IOException {
    for (Map.Entry<Project.Module, ModuleJar> each : jars.entrySet()) {
      Project.Module module = each.getKey();
      changed.stream()
          .filter(file -> file.startsWith(module.mainSources()))
          .filter(file -> file.toString().endsWith(".java"))
          .forEach(sources::add);
      if (module.resources().stream()
          .anyMatch(of -> changed.stream().anyMatch(file -> file.startsWith(of.folder())))) {
        each.getValue().replaceResources();
      }
    }
    if (sources.isEmpty()) {
      return 0;
    }
    Map<Path, List<CompiledClass>> old = new LinkedHashMap<>();
    List<Compiler.Output> compiled;
    Set<Path> more;
    do {
      for (Path source : sources) {
        if (!old.containsKey(source)) {
          old.put(source, classesOf(source));
        }
      }
      Set<String> hidden =
          old.values().stream()
              .flatMap(List::stream)
              .map(CompiledClass::name)
              .collect(Collectors.toSet());
      List<Path> present = sources.stream().filter(Files::exists).toList();
      compiled =
          present.isEmpty() ? List.of() : compiler.compile(present, List.of(), classPath, hidden);
      more = dependents(old, compiled);
    } while (sources.addAll(more));
    store(old.values(), compiled);
    return (int) sources.stream().filter(Files::exists).count();
  }

  private void store(Collection<List<CompiledClass>> old, List<Compiler.Output> compiled) {
    jars.values()
        .forEach(jar -> old.forEach(unit -> unit.forEach(each -> jar.remove(each.name()))));
    for (Compiler.Output each : compiled) {
      jars.get(moduleOf(each.source())).put(each.name(), each.bytes());
    }
  }

  private Project.Module moduleOf(Path source) {
    return jars.keySet().stream()
        .filter(module -> source.startsWith(module.mainSources()))
        .findFirst()
        .orElseThrow();
  }

  private List<CompiledClass> classesOf(Path source) {
    Project.Module module = moduleOf(source);
    String unit = module.mainSources().relativize(source).toString().replace('\\', '/');
    return jars.get(module).classes(unit.substring(0, unit.lastIndexOf('/') + 1)).stream()
        .filter(each -> each.unit().equals(unit))
        .toList();
  }

  /** Returns sources that depend on a difference between the old classes and the compiled ones. */
  private Set<Path> dependents(Map<Path, List<CompiledClass>> old, List<Compiler.Output> compiled)
      throws IOException {
    Map<Path, List<CompiledClass>> now =
        compiled.stream()
            .collect(
                Collectors.groupingBy(
                    Compiler.Output::source,
                    Collectors.mapping(
                        each -> CompiledClass.of(each.bytes()), Collectors.toList())));
    Set<String> names = new HashSet<>();
    Set<String> words = new HashSet<>();
    old.forEach(
        (source, before) -> compare(before, now.getOrDefault(source, List.of()), names, words));
    if (names.isEmpty()) {
      return Set.of();
    }
    if (everything.isEmpty()) {
      everything = jars.values().stream().flatMap(jar -> jar.classes("").stream()).toList();
    }
    spread(names);
    Set<String> units =
        everything.stream()
            .filter(each -> each.mentioned().stream().anyMatch(names::contains))
            .map(CompiledClass::unit)
            .collect(Collectors.toSet());
    Set<Path> found = new TreeSet<>();
    for (Project.Module module : jars.keySet()) {
      units.stream().map(module.mainSources()::resolve).filter(Files::exists).forEach(found::add);
      if (!words.isEmpty()) {
        found.addAll(containing(words, module.mainSources()));
      }
    }
    return found;
  }

  /**
   * Adds the names of classes whose visible part differs, and the words by which sources refer to
   * constants and new classes.
   */
  private static void compare(
      List<CompiledClass> before, List<CompiledClass> now, Set<String> names, Set<String> words) {
    Set<String> gone = visible(before);
    Set<String> come = visible(now);
    if (gone.equals(come)) {
      return;
    }
    Stream.of(before, now).flatMap(List::stream).map(CompiledClass::name).forEach(names::add);
    difference(constants(before), constants(now))
        .forEach(value -> words.add(value.substring(0, value.indexOf('='))));
    difference(namesOf(before), namesOf(now))
        .forEach(
            name ->
                words.add(
                    name.substring(Math.max(name.lastIndexOf('/'), name.lastIndexOf('$')) + 1)));
  }

  private static Set<String> visible(List<CompiledClass> unit) {
    return unit.stream()
        .filter(each -> !each.signature().isEmpty())
        .map(each -> each.name() + each.signature() + each.constants())
        .collect(Collectors.toSet());
  }

  private static Set<String> constants(List<CompiledClass> unit) {
    return unit.stream().flatMap(each -> each.constants().stream()).collect(Collectors.toSet());
  }

  private static Set<String> namesOf(List<CompiledClass> unit) {
    return unit.stream()
        .filter(each -> !each.signature().isEmpty())
        .map(CompiledClass::name)
        .collect(Collectors.toSet());
  }

  private static Set<String> difference(Set<String> one, Set<String> other) {
    Set<String> either = new HashSet<>(one);
    either.addAll(other);
    either.removeIf(each -> one.contains(each) && other.contains(each));
    return either;
  }

  /** Adds the subtypes of the named classes and those whose generic signatures contain them. */
  private void spread(Set<String> names) {
    boolean grew;
    do {
      grew = false;
      for (CompiledClass each : everything) {
        if (!names.contains(each.name())
            && Stream.concat(each.supertypes().stream(), each.exposed().stream())
                .anyMatch(names::contains)) {
          grew |= names.add(each.name());
        }
      }
    } while (grew);
  }

  private static List<Path> containing(Set<String> words, Path folder) throws IOException {
    Pattern word =
        Pattern.compile(
            words.stream().map(Pattern::quote).collect(Collectors.joining("|", "\\b(?:", ")\\b")));
    List<Path> found = new ArrayList<>();
    for (Path file : Project.filesBelow(folder)) {
      if (file.toString().endsWith(".java") && word.matcher(Files.readString(file)).find()) {
        found.add(file);
      }
    }
    return found;
  }
}
