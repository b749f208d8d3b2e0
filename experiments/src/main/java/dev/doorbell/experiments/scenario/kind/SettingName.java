package dev.doorbell.experiments.scenario.kind;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The name of the setting, where Java does not allow it as the name of a record component. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface SettingName {
  /** The name in configs, such as {@code switch}. */
  String value();
}
