/** Layouts written by FormatsTest from src/main/formats/prm.txt: nobody edits them. */
@NullMarked
package dev.doorbell.core.mlx5.prm.generated;

import org.jspecify.annotations.NullMarked;
