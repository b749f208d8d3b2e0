/** Layouts written by FormatsTest from src/main/formats/uverbs.txt: nobody edits them. */
@NullMarked
package dev.doorbell.core.uverbs.generated;

import org.jspecify.annotations.NullMarked;
