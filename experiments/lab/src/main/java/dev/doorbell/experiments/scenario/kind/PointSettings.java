package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.schema.Schema.Setting;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.scenario.kind.ExperimentKind.SettingName;
import dev.doorbell.experiments.scenario.world.Placement;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the settings of a point into a record, whose components have the names of the settings.
 *
 * <p>An {@code int} has to be in range. A word becomes the enum constant of the same name: {@code
 * cpu-rung} is {@code CPU_RUNG}, {@code push.bf} is {@code PUSH_BF}; a {@code String} is the word
 * itself. A component that is a record is read the same way; one that is a {@link Point} is the
 * point itself.
 */
final class PointSettings {
  private final Point point;

  private PointSettings(Point point) {
    this.point = point;
  }

  static <S extends Record> S read(Point point, Class<S> type) throws PointFailure {
    return new PointSettings(point).read(type);
  }

  static Set<String> names(Class<?> type) {
    Set<String> names = new LinkedHashSet<>();
    for (RecordComponent component : type.getRecordComponents()) {
      if (component.getType() == Point.class) {
        continue;
      }
      if (component.getType().isRecord()) {
        names.addAll(names(component.getType()));
      } else {
        names.add(name(component));
      }
    }
    return names;
  }

  private static String name(RecordComponent component) {
    SettingName other = component.getAnnotation(SettingName.class);
    return other == null ? component.getName() : other.value();
  }

  private <S extends Record> S read(Class<S> type) throws PointFailure {
    RecordComponent[] components = type.getRecordComponents();
    Class<?>[] types = new Class<?>[components.length];
    Object[] values = new Object[components.length];
    for (int i = 0; i < components.length; i++) {
      types[i] = components[i].getType();
      values[i] = value(name(components[i]), types[i]);
    }
    try {
      Constructor<S> constructor = type.getDeclaredConstructor(types);
      constructor.setAccessible(true);
      return constructor.newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("%s cannot be constructed".formatted(type), e);
    }
  }

  private Object value(String name, Class<?> type) throws PointFailure {
    if (type == Point.class) {
      return point;
    }
    if (type.isRecord()) {
      return read(type.asSubclass(Record.class));
    }
    if (type == int.class) {
      return narrow(name, point.whole(name));
    }
    if (type == long.class) {
      return point.whole(name);
    }
    if (type == boolean.class) {
      return point.flag(name);
    }
    if (type == String.class) {
      return point.text(name);
    }
    if (type == MemoryKind.class) {
      return Placement.payload(point.text(name));
    }
    if (type.isEnum()) {
      return constant(name, type);
    }
    throw new IllegalStateException("setting %s cannot be a %s".formatted(name, type));
  }

  private int narrow(String name, long value) throws PointFailure {
    if (value != (int) value) {
      throw new PointFailure(
          PointFailure.Kind.FAILED,
          Problem.of("DB-P011", point.id(), "%s is %d".formatted(name, value))
              .effect("it is more than %d".formatted(Integer.MAX_VALUE))
              .fix("use a smaller %s".formatted(name)));
    }
    return (int) value;
  }

  private Object constant(String name, Class<?> type) throws PointFailure {
    Object constant = constantOf(type, point.text(name));
    if (constant != null) {
      return constant;
    }
    Setting setting = Schema.experiment().settings().get(name);
    String known =
        setting == null
            ? Arrays.toString(type.getEnumConstants())
            : String.join(
                ", ",
                setting.words().keySet().stream()
                    .filter(word -> constantOf(type, word) != null)
                    .toList());
    throw new PointFailure(
        PointFailure.Kind.FAILED,
        Problem.of("DB-P010", point.id(), "%s %s".formatted(name, point.text(name)))
            .effect("no kernel of this point takes it")
            .fix("use one of " + known));
  }

  private static @Nullable Object constantOf(Class<?> type, String word) {
    String wanted = word.toUpperCase(Locale.ROOT).replace('-', '_').replace('.', '_');
    return Arrays.stream(type.getEnumConstants())
        .filter(constant -> ((Enum<?>) constant).name().equals(wanted))
        .findFirst()
        .orElse(null);
  }
}
