package dev.doorbell.contract;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Bounds on what one package may hold: circles of classes that all depend on each other, and
 * classes at all. A nested class counts as part of its outermost class. Packages named {@code
 * generated} are exempt.
 */
public final class ClassCircles {
  private final SortedMap<String, Set<String>> packages = new TreeMap<>();
  private final Map<String, Set<String>> dependencies = new HashMap<>();

  private ClassCircles(JavaClasses classes) {
    for (JavaClass each : classes) {
      if (each.getSimpleName().equals("package-info")
          || each.getPackageName().contains(".generated")) {
        continue;
      }
      String name = outermost(each);
      packages.computeIfAbsent(each.getPackageName(), key -> new TreeSet<>()).add(name);
      Set<String> targets = dependencies.computeIfAbsent(name, key -> new TreeSet<>());
      for (Dependency dependency : each.getDirectDependenciesFromSelf()) {
        JavaClass target = dependency.getTargetClass().getBaseComponentType();
        if (target.getPackageName().equals(each.getPackageName())) {
          targets.add(outermost(target));
        }
      }
    }
  }

  /**
   * Requires that no circle of classes inside one package has more than {@code most} classes.
   *
   * @throws AssertionError listing every larger circle
   */
  public static void requireAtMost(int most, JavaClasses classes) {
    ClassCircles circles = new ClassCircles(classes);
    List<String> large = new ArrayList<>();
    circles.packages.forEach(
        (name, members) -> {
          for (Set<String> circle : circles.of(members)) {
            if (circle.size() > most) {
              large.add(
                  "%s: %d classes in a circle: %s"
                      .formatted(name, circle.size(), shortened(circle, name)));
            }
          }
        });
    require(large, "a circle has at most " + most + " classes; cut one of its arrows");
  }

  /**
   * Requires that no package has more than {@code most} outermost classes.
   *
   * @throws AssertionError listing every larger package
   */
  public static void requirePackagesOfAtMost(int most, JavaClasses classes) {
    List<String> large = new ArrayList<>();
    new ClassCircles(classes)
        .packages.forEach(
            (name, members) -> {
              if (members.size() > most) {
                large.add("%s: %d classes".formatted(name, members.size()));
              }
            });
    require(large, "a package has at most " + most + " classes; give it inner packages");
  }

  private static void require(List<String> violations, String rule) {
    if (!violations.isEmpty()) {
      throw new AssertionError(rule + ":\n" + String.join("\n", violations));
    }
  }

  private static List<String> shortened(Set<String> circle, String packageName) {
    return circle.stream().map(each -> each.substring(packageName.length() + 1)).toList();
  }

  private static String outermost(JavaClass type) {
    JavaClass outer = type;
    while (outer.getEnclosingClass().isPresent()) {
      outer = outer.getEnclosingClass().get();
    }
    return outer.getName();
  }

  /** The strongly connected components of {@code members}. */
  private List<Set<String>> of(Set<String> members) {
    List<Set<String>> components = new ArrayList<>();
    Set<String> left = new TreeSet<>(members);
    while (!left.isEmpty()) {
      String start = left.iterator().next();
      Set<String> component = new TreeSet<>();
      component.add(start);
      Set<String> reachable = reachable(start, left);
      for (String other : reachable) {
        if (reachable(other, left).contains(start)) {
          component.add(other);
        }
      }
      components.add(component);
      left.removeAll(component);
    }
    return components;
  }

  private Set<String> reachable(String start, Set<String> within) {
    Set<String> found = new TreeSet<>();
    Deque<String> open = new ArrayDeque<>(List.of(start));
    while (!open.isEmpty()) {
      for (String next : dependencies.getOrDefault(open.remove(), Set.of())) {
        if (within.contains(next) && found.add(next)) {
          open.add(next);
        }
      }
    }
    return found;
  }
}
