"""Users' kinds of models: estimators by scikit-learn's conventions."""
