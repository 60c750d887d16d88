"""A trained model as ONNX graphs, built from its settings and its weights without PyTorch.

| file | graph |
|---|---|
| `encoder.py` | from words to everything that the decoder reads |
| `step.py` | extend hypotheses by words, attend to the source, predict the next word |
| `alignment_layer.py` | the links of the words of two given sentences |

`cells.py` and `attention.py` hold the equations of the cells and the alignment models, `network.py` affine maps in float32
and int8, `graph.py` the notation in which they are written, and `onnx_format.py` the file format. `engine.py` runs the
graphs, and `export.py` writes a folder that needs no rnnsearch. The suffixes of tensor names are those of `rnnsearch.model`.
"""
