/** Layouts written by FormatsTest from src/main/formats/push.txt: nobody edits them. */
@NullMarked
package dev.doorbell.core.push.generated;

import org.jspecify.annotations.NullMarked;
