"""A trained model as ONNX graphs, built from its settings and its weights without PyTorch.

| file | graph |
|---|---|
| `encoder.py` | the encoder: from words to all inputs of the decoder |
| `step.py` | a step of the decoder: extend hypotheses by words, attend to the source, predict the next word |
| `alignment_layer.py` | the links between the words of two given sentences |

`cells.py` and `attention.py` hold the equations of the cells and the alignment models, `network.py` the affine maps in
float32 and int8, `graph.py` the notation for all of these, and `onnx_format.py` the file format. `engine.py` runs the
graphs, and `export.py` writes a folder that can be used without rnnsearch. The suffixes of tensor names are those of
`rnnsearch.model`; in a step, Q are the sentences, K the hypotheses of each, and R all hypotheses as rows.
"""
